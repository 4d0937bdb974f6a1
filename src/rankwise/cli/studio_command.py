"""``rankwise studio``: the page on which a survey or a jury becomes an answer."""

from __future__ import annotations

from typing import Annotated

import typer


def studio(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A file of rankings, or a project file; more on the page.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, metavar="N", help="Where to listen; default: 8765 if it is free.")
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen at; all but 127.0.0.1 need --allow-remote.")
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines in, without encryption.")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    time_limit: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="How long a job may take.")] = 600,
    memory_limit: Annotated[int, typer.Option(min=64, metavar="MB", help="How much memory a job may take.")] = 4096,
) -> None:
    """Open a page on this machine: drop a file, read the answer, download the report."""
    from rankwise._optional import require

    if host not in ("127.0.0.1", "localhost", "::1") and not allow_remote:
        raise typer.BadParameter(
            f"{host} can be reached from other machines; if that is meant, add --allow-remote", param_hint="--host"
        )
    for module in ("fastapi", "uvicorn"):
        require(module, extra="studio", caller="rankwise studio")
    from rankwise.studio.serving import serve

    if allow_remote:
        typer.echo(
            "rankwise: other machines can reach the studio, and whoever reads the network can read along", err=True
        )
    serve(
        file,
        say=typer.echo,
        port=port,
        browser=not no_browser,
        host=host,
        allow_remote=allow_remote,
        time_limit=time_limit,
        memory_limit=memory_limit * 2**20,
        preload=("rankwise.cli",),
    )
