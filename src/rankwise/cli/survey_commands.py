"""The commands that look at rankings: ``quickstart``, ``report``, ``describe`` and ``consensus``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from rankwise._decode import ConsensusRule, rule_name
from rankwise.cli.constraints import AtLeast, Before, ItemWeight, PositionWeights, constraints
from rankwise.cli.options import (
    DETECTED,
    PICTURES,
    Data,
    HowToRead,
    Jobs,
    Json,
    Seed,
    ShownOut,
    check_level,
    reads_rankings,
)

# The report of the quickstart, where no other name is given.
QUICKSTART = Path("rankwise-quickstart.html")
# Longer tables are cut where people read them.
_MOST_ROWS, _SHOWN_ROWS = 40, 20
# Matrices of more items have more cells than anybody reads, and soon than a workbook holds.
_MOST_IN_MATRICES = 300
# The ends of the names of CSV files, which hold one table each, with places, shares of pairs and people per pair.
_MATRICES = ("places", "before", "n")

if TYPE_CHECKING:
    from rankwise._tables import TextTable
    from rankwise.analysis import Analysis, ConsensusResult, GroupResults, Summary
    from rankwise.cli.console import OnStep
    from rankwise.data import Survey
    from rankwise.data.formats.reading import Reading


class PictureFormat(StrEnum):
    """What files the pictures of a report are."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


def quickstart(
    data: Annotated[str, typer.Option(metavar="NAME", help="Name of a data set, or a file of rankings.")] = "iris",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write the report.")] = QUICKSTART,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Look at rankings: summary, consensus, leaderboard, tree, and a report with pictures."""
    from rankwise.cli import console
    from rankwise.cli.in_and_out import allow_replacing, check_writable

    if out == QUICKSTART:  # a second try replaces the first
        allow_replacing(True)
    check_writable(out, data)
    with console.progress() as on_step:
        result = _analyze(data, {}, seed, jobs, on_step)
        command = f"rankwise quickstart --data {shlex.quote(data)} --seed {seed}"
        _save(result, out, command, on_step)
    if as_json:
        console.print_json({**result.as_dict(), "report": str(out)})
        return
    console.print_tables(map(_as_options, result.tables()))
    if result.tree is not None:
        console.print_lines(result.tree_lines(), title="Tree", note=result.tree_note)
    console.print_lines([f"Report with pictures: {out}"])


@reads_rankings("by", "features", "ignore")
def report(
    file: Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write the report.")] = Path(
        "rankwise-report.html"
    ),
    title: Annotated[str, typer.Option(metavar="TEXT", help="Its title; default: what was asked.")] = "",
    excel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all tables to an Excel workbook too: .xlsx.")
    ] = None,
    pictures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write all pictures to a folder too.")] = None,
    picture_format: Annotated[
        PictureFormat, typer.Option(help="What files: png, for slides, or svg or pdf, which can be enlarged.")
    ] = PictureFormat.PNG,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Write a report: the data, the consensus and how sure it is, who disagrees, which model predicts best."""
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_replaceable, check_writable

    check_writable(out, file)
    _check_excel(excel, file)
    if pictures is not None and pictures.exists() and not pictures.is_dir():
        raise OSError(f"{pictures} is a file; give a folder for the pictures, as in --pictures pictures")
    if pictures is not None and (old := sorted(pictures.glob(f"*.{picture_format.value}"))):
        check_replaceable(old[0])
    if pictures is None and picture_format is not PictureFormat.PNG:
        raise typer.BadParameter("there is no folder to write pictures to: --pictures FOLDER")
    options = [*(["--title", title] if title else []), *how.words()]
    with console.progress() as on_step:
        result = _analyze(file, how.arguments(), seed, jobs, on_step)
        command = shlex.join(["rankwise", "report", file, *options, "--seed", str(seed), "--out", str(out)])
        _save(result, out, command, on_step, title=title)
        written = {"report": str(out)}
        if excel is not None:
            result.to_excel(excel)
            written["excel"] = str(excel)
        if pictures is not None:
            result.save_pictures(pictures, form=picture_format.value)
            written["pictures"] = str(pictures)
    if as_json:
        console.print_json({**result.as_dict(), **written})
    else:
        console.print_lines([*result.highlights, *(f"{what.capitalize()}: {path}" for what, path in written.items())])


@reads_rankings("by", "features", "ignore")
def describe(
    file: Data,
    out: ShownOut = None,
    how: HowToRead = DETECTED,
    as_json: Json = False,
) -> None:
    """Say how a file was understood, what the rankings hold, and what should be looked at."""
    from rankwise._table_files import save_tables
    from rankwise.analysis import group_results, summary
    from rankwise.analysis.by_group import largest_groups
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable

    further = [] if out is None or out.suffix.lower() != ".csv" else [_beside(out, name) for name in _MATRICES]
    for path in (out, *further):
        check_writable(path, file)
    survey = sources.load(file, **how.arguments())
    facts = summary(survey.rankings, survey.X, feature_names=survey.feature_names, name=survey.name, notes=survey.notes)
    groups = group_results(survey.rankings, survey.groups(), by=survey.by_name) if survey.by is not None else None
    understood = {} if survey.reading is None else {"survey": survey.as_dict()}
    by_group = {} if groups is None else {"groups": groups.as_dict()}
    small = facts.n_items <= _MOST_IN_MATRICES
    numbers = {
        "data": facts.name,
        **facts.as_dict(marginals=small),
        "items": [str(item) for item in facts.items],
        "pairs": facts.pairs.as_dict(matrix=small),
        **understood,
        **by_group,
    }
    # The first table says what is used for what, so that the second need not.
    brief = replace(facts, notes=()) if survey.reading is not None else facts
    understood_tables = list(map(_as_options, survey.tables())) if survey.reading is not None else []
    tables = [*brief.tables(), *([] if groups is None else groups.tables()[:1])]
    matrices = facts.matrix_tables() if out is not None and small else []
    _write(out, [*tables, *matrices, *understood_tables], numbers, largest_groups(groups) or facts)
    for path, table in zip(further, matrices, strict=False):
        save_tables([table], path, facts={})
    if further and small:
        console.print_notes([f"places, pairs and people per pair: {', '.join(map(str, further))}"])
    if (out is not None or as_json) and not small:
        console.print_notes([f"places and pairs of more than {_MOST_IN_MATRICES} items are left out"])
    if as_json:
        console.print_json(numbers)
    else:
        console.print_tables(map(_first_rows, [*understood_tables, *tables]))


@reads_rankings("by", "ignore")
def consensus(
    file: Data,
    out: ShownOut = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "--decode",
            metavar="RULES",
            help=f"How to find it: {', '.join(get_args(ConsensusRule))}; or several, joined by commas, or all.",
        ),
    ] = "kemeny",
    before: Before = None,
    at_least: AtLeast = None,
    item_weight: ItemWeight = None,
    position_weights: PositionWeights = None,
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
    level: Annotated[float, typer.Option(metavar="X", help="Share of the resamples that an interval holds.")] = 0.95,
    alpha: Annotated[
        float | None, typer.Option(min=0, metavar="X", help="Strength of the prior of plackett-luce; default: 0, none.")
    ] = None,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find one ranking of many: its cost, the proof that none is better, and intervals of places."""
    from rankwise import analysis
    from rankwise.analysis.consensus import SLOW_INTERVALS
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    rules = _rules(method, seats)
    if out is not None and out.suffix.lower() in PICTURES and (rules == ["all"] or len(rules) > 1):
        raise typer.BadParameter(
            f"a picture shows the ranking of one rule: name one with --method, or write {out.stem}.csv", param_hint="-o"
        )
    wanted = {"--before": before, "--at-least": at_least, "--item-weight": item_weight}
    given = [name for name, value in (wanted | {"--position-weights": position_weights}).items() if value]
    if given and rules != ["kemeny"]:
        raise typer.BadParameter(
            f"{method} takes no constraints and weights; --method kemeny does", param_hint=given[0]
        )
    _check_options(rules, method, time_limit=time_limit, alpha=alpha, level=level, bootstrap=bootstrap)
    survey = sources.load(file, **how.arguments())
    options: dict[str, Any] = {"time_limit": time_limit, "level": level, "random_state": seed, "n_jobs": jobs}
    options |= {"alpha": alpha or 0.0, "seats": seats, "break_ties": break_ties}
    options |= {"intervals": "auto" if bootstrap is None else bootstrap > 0}
    options |= constraints(before, at_least, item_weight, position_weights, survey.rankings)
    if bootstrap:
        options["n_resamples"] = bootstrap
    with console.progress() as on_step:
        on_step(f"consensus by {method}", 0.0)
        try:
            chosen: Any = "all" if rules == ["all"] else rules[0] if len(rules) == 1 else rules
            found: Any = analysis.consensus(survey, chosen, **options)
            groups = None
            if survey.by is not None:
                by_rule = {"stv": "instant-runoff", "all": "kemeny"}.get(rules[0], rules[0])  # groups do not elect
                of_groups: dict[str, Any] = {"decode": by_rule, "alpha": alpha or 0.0, "scores": survey.scores}
                of_groups["random_state"] = seed
                groups = analysis.group_results(survey.rankings, survey.groups(), by=survey.by_name, **of_groups)
        except ValueError as error:
            raise ValueError(_with_options(str(error), _as_scores(file, survey))) from None
    if chosen == rules[0] and chosen != "all":
        hint = "no intervals, because resampling would take a while: ask for them with --bootstrap 200"
        notes = [hint if note == SLOW_INTERVALS else note for note in found.notes]
        notes += ["the groups are ordered without the constraints and weights"] if given and groups is not None else []
        found = replace(found, notes=tuple(notes))
    else:
        found = replace(
            found, refused={rule: _with_options(why, _as_scores(file, survey)) for rule, why in found.refused.items()}
        )
    by_group = {} if groups is None else {"groups": groups.as_dict()}
    numbers = {"data": shown_name(file), "seed": seed, **found.as_dict(), **by_group}
    tables = list(map(_as_options, [*found.tables(), *([] if groups is None else groups.tables())]))
    if out is not None:
        _write(out, tables, numbers, found)
    if as_json:
        console.print_json(numbers)
    else:
        console.print_notes([*_read_as(survey.reading), *survey.cautions])
        console.print_tables(map(_first_rows, tables))


def _read_as(reading: Reading | None) -> list[str]:
    """How a file was understood, a sentence each: first which columns vote, since a wrong one spoils all."""
    from rankwise.analysis.base import as_options

    if reading is None:
        return []
    voting = [reading.voting()] if reading.columns else []
    return [*voting, *map(as_options, replace(reading, columns=()).lines())]


def _first_rows(table: TextTable) -> TextTable:
    """The first rows of a long table, and how to get all."""
    if len(table.rows) <= _MOST_ROWS:
        return table
    more = f"the first {_SHOWN_ROWS} of {len(table.rows):,} rows; all of them: -o file.csv or --json"
    note = f"{table.note}; {more}" if table.note else more
    return table._replace(note=note, rows=table.rows[:_SHOWN_ROWS])


def _beside(path: Path, name: str) -> Path:
    """The file that holds a further table: means-places.csv for means.csv."""
    return path.with_name(f"{path.stem}-{name}{path.suffix}")


def _as_options(table: TextTable) -> TextTable:
    """The table with options where it advises arguments and attributes of Python."""
    from rankwise.analysis.base import as_options

    rows = [[as_options(cell) for cell in row] for row in table.rows]
    return table._replace(note=as_options(table.note), rows=rows)


def _rules(method: str, seats: int | None) -> list[str]:
    """The rules that are named, joined by commas; or "all"."""
    known = get_args(ConsensusRule)
    given = [name.strip() for name in method.split(",")]
    rules = list(dict.fromkeys(map(rule_name, given)))
    if rules == ["all"]:
        return rules
    for written, rule in zip(given, map(rule_name, given), strict=True):
        if rule not in known:
            names = ", ".join(map(repr, known))
            raise typer.BadParameter(f"{written!r} is not one of {names}, or 'all'", param_hint="--method")
    if "stv" in rules and seats is None:
        raise typer.BadParameter("stv elects several items: say how many with --seats 3", param_hint="--method")
    if seats is not None and "stv" not in rules:
        raise typer.BadParameter(f"{method} has no seats; --method stv has", param_hint="--seats")
    return rules


def _check_options(
    rules: Sequence[str],
    method: str,
    *,
    time_limit: float | None,
    alpha: float | None,
    level: float,
    bootstrap: int | None,
) -> None:
    """Refuse options that the rules do not have, and numbers that say nothing."""
    from rankwise.analysis.consensus import FEWEST_RESAMPLES

    if time_limit is not None and not {"kemeny", "all"} & set(rules):
        raise typer.BadParameter(f"{method} has no proof to limit in time; --method kemeny has")
    if alpha is not None and not {"plackett-luce", "all"} & set(rules):
        raise typer.BadParameter(f"{method} has no --alpha; --method plackett-luce has")
    check_level(level)
    if bootstrap is not None and 0 < bootstrap < FEWEST_RESAMPLES:
        raise typer.BadParameter(
            f"{bootstrap} is too few for an interval; take {FEWEST_RESAMPLES} or more, better 1000, or 0 for none",
            param_hint="--bootstrap",
        )


def _as_scores(file: str, survey: Survey) -> str:
    """The options, or the whole command, that read the same columns as scores."""
    from rankwise.cli.in_and_out import current_command
    from rankwise.data.formats.reading import shell_command

    reading = survey.reading
    if reading is None or reading.layout not in ("positions", "judges"):
        return "--layout scores"
    changed = {"layout": "scores"} if reading.layout == "positions" else {"values": "scores"}
    command, others = current_command()
    return f"{shell_command(file, {**reading.options, **changed}, command)}{others}"


def _with_options(message: str, as_scores: str) -> str:
    """A message of the library in the words of the command line."""
    for python, shell in (
        ("alpha=0.1", "--alpha 0.1"),
        ("break them at random", "break them at random (--break-ties)"),
        ("(unlisted='below', or inf in an array)", '(--read "unlisted=below")'),
        ("take the distance 'footrule' or 'hamming'", "take --method footrule or hamming"),
        (
            "read a file of scores with read_survey(path, layout='scores'), or give the table to "
            "rankwise.aggregation.range_voting",
            f"if the numbers of this file are scores, read them as such: {as_scores}",
        ),
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


def _save(result: Analysis, out: Path, command: str, on_step: OnStep, *, title: str = "") -> None:
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    on_step("drawing", 0.95)
    result.save_html(out, title=title, command=command)


def _check_excel(path: Path | None, file: str) -> None:
    """Refuse a workbook that cannot be written before the work begins."""
    from rankwise._table_files import check_suffix
    from rankwise.cli.in_and_out import check_writable

    if path is None:
        return
    if path.suffix.lower() != ".xlsx":
        raise typer.BadParameter(f"{path} does not end in .xlsx", param_hint="--excel")
    check_suffix(path)  # it asks for what writes workbooks
    check_writable(path, file)


def _write(
    out: Path | None,
    tables: Sequence[TextTable],
    facts: Mapping[str, Any],
    drawn: Summary | GroupResults | ConsensusResult,
) -> None:
    """Write the tables to a file, or a picture by its suffix: the places of a consensus, or mean ranks."""
    from rankwise.cli.in_and_out import write_tables

    if out is None:
        return
    if out.suffix.lower() not in PICTURES:
        write_tables(tables, out, facts)
        return
    import matplotlib

    from rankwise.analysis import ConsensusResult
    from rankwise.plots import MeanRankDisplay, RankIntervalDisplay

    matplotlib.use("agg")
    if isinstance(drawn, ConsensusResult):
        spread = drawn.bootstrap
        low, high, level = (None, None, 0.95) if spread is None else (spread.low, spread.high, spread.level)
        RankIntervalDisplay(drawn.positions, low, high, drawn.items, level).save(out)
    else:
        groups = getattr(drawn, "groups", ())
        MeanRankDisplay(drawn.items, drawn.mean_rank, drawn.low, drawn.high, groups=groups).save(out)
