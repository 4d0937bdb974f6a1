"""``rankwise warmup``: compile now what later calls would wait for."""

from __future__ import annotations

import typer

from rankwise.cli.options import Json


def warmup(as_json: Json = False) -> None:
    """Compile everything that is compiled on first use, so that later calls start fast."""
    from rankwise.cli import console
    from rankwise.cli.warmup import STEPS, kernels, why_in_vain

    with console.progress() as on_step:
        for number, (name, call) in enumerate(STEPS.items()):
            on_step(name, number / len(STEPS))
            call()
    in_vain = why_in_vain()
    if in_vain:
        typer.echo(f"rankwise: {in_vain}", err=True)
    if as_json:
        compiled = [name for name, _ in kernels()]
        console.print_json({"steps": list(STEPS), "compiled": compiled, "kept": not in_vain})
    elif not in_vain:
        typer.echo(f"Compiled: {', '.join(STEPS)}.")
