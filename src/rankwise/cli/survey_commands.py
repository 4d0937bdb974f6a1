"""The commands that look at rankings: ``quickstart``, ``report``, ``describe`` and ``consensus``."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from rankwise._decode import ConsensusRule
from rankwise.cli.options import (
    By,
    Data,
    Features,
    Id,
    Ignore,
    Jobs,
    Json,
    Layout,
    Read,
    Seed,
    Target,
    Weight,
    reading,
)

if TYPE_CHECKING:
    from rankwise._tables import TextTable
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
        result = _analyze(data, {}, seed, jobs, on_step)
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
    layout: Layout = None,
    by: By = None,
    weight: Weight = None,
    id_: Id = None,
    features: Features = None,
    ignore: Ignore = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Write a report: the data, the consensus and how sure it is, who disagrees, which model predicts best."""
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable

    check_writable(out, file)
    columns = {"layout": layout, "by": by, "weight": weight, "id": id_, "features": features, "ignore": ignore}
    given = [("--target", target), *((f"--{name}", value) for name, value in columns.items()), ("--read", read)]
    options = [word for name, value in given for part in _listed(value) for word in (name, part)]
    with console.progress() as on_step:
        result = _analyze(file, reading(target=target, read=read, **columns), seed, jobs, on_step)
        command = shlex.join(["rankwise", "report", file, *options, "--seed", str(seed), "--out", str(out)])
        _save(result, out, command, on_step)
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
    else:
        console.print_lines([*result.highlights, f"Report: {out}"])


def describe(
    file: Data,
    target: Target = None,
    layout: Layout = None,
    by: By = None,
    weight: Weight = None,
    id_: Id = None,
    features: Features = None,
    ignore: Ignore = None,
    read: Read = None,
    as_json: Json = False,
) -> None:
    """Say how a file was understood, what the rankings hold, and what should be looked at."""
    from rankwise.analysis import group_results, summary
    from rankwise.cli import console, sources

    columns = {"layout": layout, "by": by, "weight": weight, "id": id_, "features": features, "ignore": ignore}
    survey = sources.load(file, **reading(target=target, read=read, **columns))
    facts = summary(survey.rankings, survey.X, feature_names=survey.feature_names, name=survey.name, notes=survey.notes)
    groups = group_results(survey.rankings, survey.groups(), by=survey.by_name) if survey.by is not None else None
    if as_json:
        items = [str(item) for item in facts.items]
        facts_of_pairs = {"items": items, "pairs": facts.pairs.as_dict()}
        understood = {} if survey.reading is None else {"survey": survey.as_dict()}
        by_group = {} if groups is None else {"groups": groups.as_dict()}
        console.print_json({"data": facts.name, **facts.as_dict(), **facts_of_pairs, **understood, **by_group})
        return
    # The first table says what is used for what, so that the second need not.
    brief = replace(facts, notes=()) if survey.reading is not None else facts
    understood_tables = list(map(_as_options, survey.tables())) if survey.reading is not None else []
    console.print_tables([*understood_tables, *brief.tables(), *([] if groups is None else groups.tables()[:1])])


def consensus(
    file: Data,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "--decode",
            metavar="RULES",
            help=f"How to find it: {', '.join(get_args(ConsensusRule))}; or several, joined by commas, or all.",
        ),
    ] = "kemeny",
    seats: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many items stv elects.")] = None,
    break_ties: Annotated[
        bool, typer.Option("--break-ties", help="Break ties in the rankings at random, for mallows and cayley.")
    ] = False,
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
    layout: Layout = None,
    by: By = None,
    weight: Weight = None,
    id_: Id = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find one ranking of many: its cost, the proof that none is better, and intervals of places."""
    from rankwise import analysis
    from rankwise.analysis.consensus import FEWEST_RESAMPLES, SLOW_INTERVALS
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import shown_name

    rules = _rules(method, seats)
    if time_limit is not None and "kemeny" not in rules:
        raise typer.BadParameter(f"{method} has no proof to limit in time; --method kemeny has")
    if alpha is not None and "plackett-luce" not in rules:
        raise typer.BadParameter(f"{method} has no --alpha; --method plackett-luce has")
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} is not between 0 and 1, as 0.95 is", param_hint="--level")
    if bootstrap is not None and 0 < bootstrap < FEWEST_RESAMPLES:
        raise typer.BadParameter(
            f"{bootstrap} is too few for an interval; take {FEWEST_RESAMPLES} or more, better 1000, or 0 for none",
            param_hint="--bootstrap",
        )
    columns = {"layout": layout, "by": by, "weight": weight, "id": id_}
    survey = sources.load(file, **reading(target=target, read=read, **columns))
    options: dict[str, Any] = {"time_limit": time_limit, "level": level, "random_state": seed, "n_jobs": jobs}
    options |= {"alpha": alpha or 0.0, "seats": seats, "break_ties": break_ties}
    options |= {"intervals": "auto" if bootstrap is None else bootstrap > 0}
    if bootstrap:
        options["n_resamples"] = bootstrap
    with console.progress() as on_step:
        on_step(f"consensus by {method}", 0.0)
        try:
            chosen: Any = rules[0] if len(rules) == 1 else rules
            found: Any = analysis.consensus(survey.rankings, chosen, **options)
            groups = None
            if survey.by is not None:
                by_rule = "instant-runoff" if rules[0] == "stv" else rules[0]  # groups do not elect
                of_groups: dict[str, Any] = {"decode": by_rule, "alpha": alpha or 0.0, "random_state": seed}
                groups = analysis.group_results(survey.rankings, survey.groups(), by=survey.by_name, **of_groups)
        except ValueError as error:
            raise ValueError(_with_options(str(error))) from None
    if len(rules) == 1:
        hint = "no intervals, because resampling would take a while: ask for them with --bootstrap 200"
        found = replace(found, notes=tuple(hint if note == SLOW_INTERVALS else note for note in found.notes))
    else:
        found = replace(found, refused={rule: _with_options(why) for rule, why in found.refused.items()})
    if as_json:
        by_group = {} if groups is None else {"groups": groups.as_dict()}
        console.print_json({"data": shown_name(file), "seed": seed, **found.as_dict(), **by_group})
    else:
        console.print_notes(survey.notes[:1] if survey.n_empty else [])
        console.print_tables([*found.tables(), *([] if groups is None else groups.tables())])


def _as_options(table: TextTable) -> TextTable:
    """The table with options where it advises arguments of Python."""
    rows = [[re.sub(r"give (\w+)='(\w+)'", r"give --read \1=\2", cell) for cell in row] for row in table.rows]
    return table._replace(rows=rows)


def _listed(value: str | list[str] | None) -> list[str]:
    """The values of an option that was given once, several times, or not at all."""
    return [value] if isinstance(value, str) else value or []


def _rules(method: str, seats: int | None) -> list[str]:
    """The rules that are named, joined by commas; "all" is every rule that has what it needs."""
    known = get_args(ConsensusRule)
    rules = list(dict.fromkeys(name.strip() for name in method.split(",")))
    if rules == ["all"]:
        rules = [rule for rule in known if rule != "copeland-or-borda" and (rule != "stv" or seats is not None)]
    for rule in rules:
        if rule == "range":
            raise typer.BadParameter(
                "range voting needs scores, and the places of rankings are none", param_hint="--method"
            )
        if rule not in known:
            names = ", ".join(map(repr, known))
            raise typer.BadParameter(f"{rule!r} is not one of {names}, or 'all'", param_hint="--method")
    if "stv" in rules and seats is None:
        raise typer.BadParameter("stv elects several items: say how many with --seats 3", param_hint="--method")
    if seats is not None and "stv" not in rules:
        raise typer.BadParameter(f"{method} has no seats; --method stv has", param_hint="--seats")
    return rules


def _with_options(message: str) -> str:
    """A message of the library in the words of the command line."""
    for python, shell in (
        ("alpha=0.1", "--alpha 0.1"),
        ("break them at random", "break them at random (--break-ties)"),
        ("(unlisted='below', or inf in an array)", '(--read "unlisted=below")'),
    ):
        message = message.replace(python, shell)
    return message


def _analyze(file: str, how: dict[str, Any], seed: int, jobs: int, on_step: OnStep) -> Analysis:
    from rankwise.analysis import analyze
    from rankwise.cli import sources
    from rankwise.cli.in_and_out import shown_name

    on_step(f"loading {shown_name(file)}", 0.0)
    survey = sources.load(file, **how)
    return analyze(survey, random_state=seed, n_jobs=jobs, on_step=on_step)


def _save(result: Analysis, out: Path, command: str, on_step: OnStep) -> None:
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    on_step("drawing", 0.95)
    result.save_html(out, command=command)
