"""The commands that look at rankings: ``quickstart``, ``report``, ``describe`` and ``consensus``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise._decode import ConsensusRule
from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings

if TYPE_CHECKING:
    from rankwise.analysis import Analysis
    from rankwise.cli.console import OnStep


def quickstart(
    data: Annotated[str, typer.Option(help="Name of a data set, or a file of rankings.")] = "iris",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the report.")] = Path(
        "rankwise-quickstart.html"
    ),
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Look at rankings: summary, consensus, leaderboard, tree, and a report with pictures."""
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable

    check_writable(out, data)
    with console.progress() as on_step:
        result = _analyze(data, None, None, seed, jobs, on_step)
        command = f"rankwise quickstart --data {shlex.quote(data)} --seed {seed}"
        _save(result, out, command, on_step)
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
        return
    console.print_tables(result.tables())
    if result.tree is not None:
        console.print_lines(result.tree_lines(), title="Tree", note=result.tree_note)
    console.print_lines([f"Report with pictures: {out}"])


def report(
    file: Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write the report.")] = Path(
        "rankwise-report.html"
    ),
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Write a report: the data, the consensus and how sure it is, who disagrees, which model predicts best."""
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable

    check_writable(out, file)
    given = [("--target", target), *(("--read", pair) for pair in read or ())]
    options = [word for name, value in given if value is not None for word in (name, value)]
    with console.progress() as on_step:
        result = _analyze(file, target, read, seed, jobs, on_step)
        command = shlex.join(["rankwise", "report", file, *options, "--seed", str(seed), "--out", str(out)])
        _save(result, out, command, on_step)
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
    else:
        console.print_lines([*result.highlights, f"Report: {out}"])


def describe(file: Data, target: Target = None, read: Read = None, as_json: Json = False) -> None:
    """Say what rankings hold: kind, items, ties, missing items, and what pairs of items say."""
    from rankwise.analysis import summary
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import shown_name

    source = sources.load(file, target=target, reading=settings(read, "--read"))
    facts = summary(
        source.rankings, source.X, feature_names=source.feature_names, name=shown_name(file), notes=source.notes
    )
    if as_json:
        items = [str(item) for item in facts.items]
        console.print_json({"data": facts.name, **facts.as_dict(), "items": items, "pairs": facts.pairs.as_dict()})
    else:
        console.print_tables(facts.tables())


def consensus(
    file: Data,
    decode: Annotated[ConsensusRule, typer.Option(help="How to find it.")] = "kemeny",
    time_limit: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="For the proof of Kemeny's consensus; default: 60.")
    ] = None,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Resamples for intervals of places; 0 is none; default: 200 if fast enough."
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Share of the resamples that an interval holds.")] = 0.95,
    alpha: Annotated[
        float | None, typer.Option(min=0, help="Strength of the prior of plackett-luce; default: 0, none.")
    ] = None,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find one ranking of many: its cost, the proof that none is better, and intervals of places."""
    from dataclasses import replace

    from rankwise import analysis
    from rankwise.analysis.consensus import FEWEST_RESAMPLES, SLOW_INTERVALS
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import shown_name

    if time_limit is not None and decode != "kemeny":
        raise typer.BadParameter(f"{decode} has no proof to limit in time; --decode kemeny has")
    if alpha is not None and decode != "plackett-luce":
        raise typer.BadParameter(f"{decode} has no --alpha; --decode plackett-luce has")
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} is not between 0 and 1, as 0.95 is", param_hint="--level")
    if bootstrap is not None and 0 < bootstrap < FEWEST_RESAMPLES:
        raise typer.BadParameter(
            f"{bootstrap} is too few for an interval; take {FEWEST_RESAMPLES} or more, better 1000, or 0 for none",
            param_hint="--bootstrap",
        )
    rankings = sources.load(file, target=target, reading=settings(read, "--read")).rankings
    options: dict[str, Any] = {"time_limit": time_limit, "level": level, "random_state": seed, "n_jobs": jobs}
    options |= {"alpha": alpha or 0.0, "intervals": "auto" if bootstrap is None else bootstrap > 0}
    if bootstrap:
        options["n_resamples"] = bootstrap
    with console.progress() as on_step:
        on_step(f"consensus by {decode}", 0.0)
        try:
            found = analysis.consensus(rankings, decode, **options)
        except ValueError as error:
            if decode != "plackett-luce" or alpha:
                raise
            raise ValueError(f"{error} (here: --alpha 0.1)") from None
    hint = "no intervals, because resampling would take a while: ask for them with --bootstrap 200"
    found = replace(found, notes=tuple(hint if note == SLOW_INTERVALS else note for note in found.notes))
    if as_json:
        console.print_json({"data": shown_name(file), "seed": seed, **found.as_dict()})
    else:
        console.print_tables(found.tables())


def _analyze(file: str, target: str | None, read: list[str] | None, seed: int, jobs: int, on_step: OnStep) -> Analysis:
    from rankwise.analysis import analyze
    from rankwise.cli import sources
    from rankwise.cli.in_and_out import shown_name

    name = shown_name(file)
    on_step(f"loading {name}", 0.0)
    source = sources.load(file, target=target, reading=settings(read, "--read"))
    return analyze(
        source.rankings,
        source.X,
        categorical_features=list(source.categorical) or None,
        feature_names=source.feature_names,
        name=name,
        notes=source.notes,
        random_state=seed,
        n_jobs=jobs,
        on_step=on_step,
    )


def _save(result: Analysis, out: Path, command: str, on_step: OnStep) -> None:
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    on_step("drawing", 0.95)
    result.save_html(out, command=command)
