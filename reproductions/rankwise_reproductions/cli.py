"""``rankwise reproduce``: the experiments of the papers behind rankwise, next to what the papers report.

The entry point of this distribution in the group ``rankwise.commands``. Everything heavy is imported inside functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli.options import Jobs, Json
from rankwise_reproductions import use_common_kernels

if TYPE_CHECKING:
    from rankwise_reproductions.experiment import Experiment, Inputs, Scale
    from rankwise_reproductions.outcome import Outcome

_LIST = "list"


def _folder(what: str, variable: str | None = None) -> typer.models.OptionInfo:
    return typer.Option(metavar="DIR", exists=True, file_okay=False, envvar=variable, help=f"Folder of {what}.")


def reproduce(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="list, an experiment, a paper, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repeats: minutes, not hours.")] = False,
    data: Annotated[Path | None, _folder("benchmark data", "RANKWISE_DATA")] = None,
    sushi: Annotated[Path | None, _folder("the sushi data")] = None,
    letor: Annotated[Path | None, _folder("train.txt, vali.txt and test.txt in the LETOR format")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where results are kept, and found again.")
    ] = Path("rankwise-reproductions"),
    jobs: Jobs = 1,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 if a claim fails that is not known to.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the experiments of the papers behind rankwise, and show the papers' figures next to ours.

    Finished parts are kept: after an interruption the same command continues.
    """
    use_common_kernels()
    from rankwise.cli import console
    from rankwise_reproductions.catalog import chosen
    from rankwise_reproductions.experiment import Inputs
    from rankwise_reproductions.outputs import store_of, write_outputs, write_paper

    if what == _LIST:
        _print_list(as_json)
        return
    try:
        wanted = chosen(what)
    except ValueError as error:  # nothing has this name
        raise typer.BadParameter(str(error), param_hint="WHAT") from None
    alone = what == wanted[0].id
    finished: list[tuple[Outcome, dict[str, str]]] = []
    left_out: dict[str, str] = {}
    for experiment in wanted:
        try:
            outcome = _run(experiment, "quick" if quick else "full", Inputs(data, sushi, letor), out, jobs)
        except (FileNotFoundError, ImportError) as error:  # data or a package that others may do without
            if alone:
                raise
            left_out[experiment.id] = str(error)
            typer.echo(f"rankwise: left out: {error}", err=True)
            continue
        finished.append((outcome, write_outputs(out, outcome)))
        if not as_json:
            _print_outcome(outcome)
    pages = [] if alone else [write_paper(out, paper, finished, left_out) for paper in {one.paper: 0 for one in wanted}]
    if as_json:
        console.print_json({"experiments": [one.as_dict() for one, _ in finished], "left_out": left_out})
    else:
        shown = pages or [store_of(out, wanted[0]).with_suffix(".html")]
        console.print_lines([f"With pictures and reasons: {path}" for path in shown])
    if strict and any(one.failed for one, _ in finished):
        raise typer.Exit(1)


reproduce.example = "reproduce list"  # type: ignore[attr-defined]


def _run(experiment: Experiment, scale: Scale, inputs: Inputs, out: Path, jobs: int) -> Outcome:
    from rankwise.cli import console
    from rankwise_reproductions.outcome import Outcome
    from rankwise_reproductions.outputs import store_of
    from rankwise_reproductions.runner import run
    from rankwise_reproductions.store import complete_scale, made

    store = store_of(out, experiment)
    if scale == "quick" and (kept := complete_scale(store, experiment, inputs)) and kept[0] == "full":
        scale = "full"  # all is there already, and tables and pictures must not shrink
    with console.progress() as on_step:
        results = run(
            experiment,
            scale,
            inputs,
            store,
            n_jobs=jobs,
            on_step=lambda done, total, left: on_step(
                f"{experiment.id} {done}/{total}{_time(left)}", done / max(total, 1)
            ),
        )
    return Outcome.of(experiment, scale, results, made(store))


def _time(left: float | None) -> str:
    """The estimate of a time, in words."""
    if left is None:
        return ""
    size, unit = next(
        (size, unit) for size, unit in ((1, "s"), (60, "min"), (3600, "h")) if left < 100 * size or size > 60
    )
    return f", about {left / size:.0f} {unit} left"


def _print_list(as_json: bool) -> None:
    from rankwise.cli import console
    from rankwise_reproductions.catalog import PAPERS, experiments

    found = experiments()
    if as_json:
        console.print_json({name: {"title": one.title, "needs": list(one.needs)} for name, one in found.items()})
        return
    console.print_tables(
        console.TextTable(
            paper.title,
            f"{paper.authors}. {paper.source}.",
            ["", "", ""],
            [
                [one.id, one.title, " ".join(f"--{name}" for name in one.needs)]
                for one in found.values()
                if one.paper == paper.name
            ],
        )
        for paper in PAPERS.values()
    )


def _print_outcome(outcome: Outcome) -> None:
    from rankwise.cli import console
    from rankwise_reproductions.outcome import CLAIM_COLUMNS, COMPARISON_COLUMNS

    title = f"{outcome.experiment.id}: {outcome.experiment.title}"
    note = "; ".join([f"scale {outcome.scale}", outcome.summary(), *outcome.notes()])
    without_reasons = [row[:-1] for row in outcome.comparison_rows()]  # too long for a terminal; the page has them
    console.print_tables(
        [
            console.TextTable(title, note, COMPARISON_COLUMNS[:-1], without_reasons),
            console.TextTable("Claims", "", CLAIM_COLUMNS, outcome.claim_rows()),
        ]
    )
