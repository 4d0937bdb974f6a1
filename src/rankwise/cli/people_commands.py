"""The commands about people: ``compare``, ``drivers``, ``raters``, ``robustness``, ``sample-size`` and ``segments``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from rankwise._decode import ConsensusRule
from rankwise._replacing import replacing
from rankwise.cli.in_and_out import check_input
from rankwise.cli.options import (
    DETECTED,
    PICTURES,
    Data,
    HowToRead,
    Jobs,
    Json,
    Seed,
    ShownOut,
    TableOut,
    check_level,
    reads_rankings,
)

_GOALS = ("places", "winner", "difference", "groups")
_DISTANCES = ("kendall", "spearman", "footrule", "hamming", "cayley")


def _pilot(context: typer.Context, name: str | None) -> str | None:
    """Refuse a file that is not there, if one is given."""
    return None if name is None else check_input(context, name)


def _columns(file: str, how: HowToRead) -> str:
    """Which columns of a file may hold groups, in words; those of fewest different values first."""
    from rankwise._tables import counted
    from rankwise._validation import is_unknown_label
    from rankwise.cli import sources

    columns = sources.load(file, **how.arguments()).X
    n_values = {
        name: len({str(value) for value in values if not is_unknown_label(value)}) for name, values in columns.items()
    }
    names = sorted((name for name, n in n_values.items() if n > 1), key=n_values.__getitem__)
    listed = ", ".join(f"{name} ({counted(n_values[name], 'value')})" for name in names[:8])
    return f"; {file} has {listed}" if listed else f"; {file} has none beside the rankings"


@reads_rankings("ignore")
def compare(
    file: Data,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that says who is in which group.")
    ] = None,
    out: ShownOut = None,
    strata: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Compare within the classes of this column only.")
    ] = None,
    paired: Annotated[
        bool, typer.Option("--paired", help="The same people ranked once in each group; --id says who they are.")
    ] = False,
    kernel: Annotated[
        str, typer.Option(metavar="NAME", help="What the test sees: mallows, any difference; kendall, that of pairs.")
    ] = "mallows",
    permutations: Annotated[int, typer.Option(min=1, metavar="N", help="How often to permute the groups.")] = 999,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Test whether groups rank differently, and show which items and pairs they differ in."""
    from rankwise.analysis import compare_groups
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    if kernel not in ("mallows", "kendall"):
        raise typer.BadParameter(f"{kernel!r} is not one of 'mallows', 'kendall'", param_hint="--kernel")
    check_level(level)
    if paired and strata is not None:
        raise typer.BadParameter("--paired compares people with themselves already; drop --strata")
    if by is None:
        columns = _columns(file, how)
        raise typer.BadParameter(f"--by is missing, the column that says who is in which group{columns}")
    survey = sources.load(file, **how.arguments(by=by, features=None if strata is None else [strata]))
    if paired and survey.id is None:
        raise typer.BadParameter("--paired needs the column that says who answered: --id COLUMN")
    with console.progress() as on_step:
        on_step(f"comparing by {by}", 0.0)
        found = compare_groups(
            survey,
            strata=strata,
            pairs=survey.id if paired else None,
            kernel=kernel,  # type: ignore[arg-type]
            n_permutations=permutations,
            level=level,
            random_state=seed,
        )
    # Paired people are in every group, so that their ids repeat.
    notes = _of_blanks(survey) if paired else _cautions(survey)
    _show(found, {"data": shown_name(file), "seed": seed}, out, as_json, "GroupDifferenceDisplay", notes)


@reads_rankings("features", "ignore")
def drivers(
    file: Data,
    out: ShownOut = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show a tree, too, whose splits are significant, with its p-values.")
    ] = False,
    rows: Annotated[int, typer.Option(min=20, metavar="N", help="Of more people, look at a random sample.")] = 4000,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find which features drive the rankings, with tests, and how places change with each."""
    from rankwise import analysis
    from rankwise.analysis.driver_tree import tree_note
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    check_level(level)
    survey = sources.load(file, **how.arguments())
    if not survey.X:
        same = [name for name, role in survey.roles.items() if role.role == "constant"]
        rest = f" but {', '.join(same)}, the same for everybody" if same else ""
        raise ValueError(f"{file} has no column that could drive rankings{rest}; --features names others")
    with console.progress() as on_step:
        on_step("drivers", 0.0)
        found = analysis.drivers(survey, level=level, max_rows=rows, random_state=seed, n_jobs=jobs)
        grown = analysis.drivers_tree(survey, level=level) if tree else None
    lines = [] if grown is None else grown.export_text().split("\n")
    of_tree = {} if grown is None else {"tree": lines, "tree_note": tree_note(grown)}
    facts = {"data": shown_name(file), "seed": seed, **of_tree}
    _show(found, facts, out, as_json, "DriversDisplay", _cautions(survey))
    if grown is not None and not as_json:
        console.print_lines(lines, title="Tree", note=tree_note(grown))
        console.print_notes(grown.notes_)


@reads_rankings()
def raters(
    file: Data,
    out: ShownOut = None,
    method: Annotated[
        str | None,
        typer.Option("--method", "--decode", metavar="RULE", help="How to find the consensus; default: kemeny."),
    ] = None,
    level: Annotated[float, typer.Option(help="Outliers and cliques have a p-value of at most 1 - level.")] = 0.95,
    simulations: Annotated[
        int, typer.Option(min=0, metavar="N", help="Simulated panels to compare cliques with; 0 looks for none.")
    ] = 199,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Look at people one by one: who agrees, who stands apart, who votes together, how reliable all are."""
    from rankwise import analysis
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    _check_rule(method)
    check_level(level)
    survey = sources.load(file, **how.arguments())
    with console.progress() as on_step:
        on_step("comparing people", 0.0)
        found = analysis.raters(
            survey,
            decode=method,  # type: ignore[arg-type]
            level=level,
            n_simulations=simulations,
            random_state=seed,
        )
    _show(found, {"data": shown_name(file), "seed": seed}, out, as_json, "RaterMapDisplay", _cautions(survey))


@reads_rankings("by")
def robustness(
    file: Data,
    out: TableOut = None,
    method: Annotated[
        str, typer.Option("--method", "--decode", metavar="RULE", help="The rule of the consensus.")
    ] = "kemeny",
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="RULES", help="Rules for margins of victory, joined by commas; default: four that are proven."
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="For all of it; bounds are shown where it ends.")
    ] = 20.0,
    how: HowToRead = DETECTED,
    as_json: Json = False,
) -> None:
    """Leave out people, groups and items, and count the votes that decide the winner."""
    from rankwise import analysis
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    chosen = None if rules is None else [rule.strip() for rule in rules.split(",")]
    for rule in [method, *(chosen or [])]:
        _check_rule(rule)
    survey = sources.load(file, **how.arguments())
    with console.progress() as on_step:
        on_step("leaving out people, groups and items", 0.0)
        found = analysis.robustness(
            survey,
            decode=method,  # type: ignore[arg-type]
            rules=chosen,  # type: ignore[arg-type]
            time_limit=time_limit,
        )
    found = replace(found, notes=tuple(note.replace("time_limit", "--time-limit") for note in found.notes))
    _show(found, {"data": shown_name(file)}, out, as_json, notes=_cautions(survey))


@reads_rankings()
def sample_size(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Rankings of a pilot study; without them, give --items.", callback=_pilot),
    ] = None,
    out: TableOut = None,
    items: Annotated[int | None, typer.Option(min=2, metavar="N", help="How many items will be ranked.")] = None,
    goal: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="places: mean ranks to within --precision; winner: the best item comes first; difference: that of an "
            "item between two groups; groups: two groups differ at all.",
        ),
    ] = "places",
    precision: Annotated[float, typer.Option(metavar="PLACES", help="Half width of intervals, for places.")] = 0.5,
    difference: Annotated[
        float, typer.Option(metavar="PLACES", help="Places between the groups, for difference and groups.")
    ] = 1.0,
    power: Annotated[float, typer.Option(help="Probability of success.")] = 0.8,
    theta: Annotated[
        float | None,
        typer.Option(min=0, metavar="NUMBER", help="How much people agree (Mallows model): 0 not at all, 1 much."),
    ] = None,
    population: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="People in all, if these are few, for places.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals; tests have 1 minus this level.")] = 0.95,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say how many people to ask, for the precision of places or the power of a comparison."""
    from rankwise import analysis
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, *([] if file is None else [file]))
    check_level(level)
    if (file is None) == (items is None):
        raise typer.BadParameter("give a FILE of a pilot study, or --items N, and not both")
    if how != DETECTED and file is None:
        raise typer.BadParameter("there are options that say how to read a pilot study; give its FILE")
    if goal not in _GOALS:
        known = ", ".join(map(repr, _GOALS))
        raise typer.BadParameter(f"{goal!r} is not one of {known}", param_hint="--goal")
    if goal in ("winner", "groups") and file is None and not theta:
        raise typer.BadParameter(f"{goal} needs to know how people rank: --theta 0.3, or the FILE of a pilot study")
    pilot = None if file is None else sources.load(file, **how.arguments())
    with console.progress() as on_step:
        on_step("simulating" if goal in ("winner", "groups") else "computing", 0.0)
        found = analysis.sample_size(
            items,
            goal=goal,  # type: ignore[arg-type]
            theta=theta,
            pilot=pilot,
            precision=precision,
            difference=difference,
            power=power,
            level=level,
            population=population,
            random_state=seed,
        )
    facts = {} if file is None else {"data": shown_name(file)}
    _show(found, {**facts, "seed": seed}, out, as_json, notes=[] if pilot is None else _cautions(pilot))


@reads_rankings()
def segments(
    file: Data,
    out: ShownOut = None,
    n: Annotated[str, typer.Option("-n", metavar="N", help="How many segments: a number, bic or icl.")] = "bic",
    members: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write who is in which segment to a CSV file.")
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="mallows or plackett-luce.")] = "mallows",
    distance: Annotated[
        str, typer.Option(metavar="NAME", help="Of mallows: kendall, spearman, footrule, hamming or cayley.")
    ] = "kendall",
    most: Annotated[int, typer.Option("--max-segments", min=1, metavar="N", help="The largest number tried.")] = 6,
    starts: Annotated[int, typer.Option("--starts", min=1, metavar="N", help="Starts for each number.")] = 10,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, metavar="N", help="Resamples for the stability; 0: none.")
    ] = 20,
    how: HowToRead = DETECTED,
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="What may say who is in which segment: age,city; default: nothing."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find groups of people who rank alike: how many, how large, what they like, and who is in them."""
    from rankwise import analysis
    from rankwise.cli import sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    for path in (out, members):
        check_writable(path, file)
    choices = {"--model": (model, ("mallows", "plackett-luce")), "--distance": (distance, _DISTANCES)}
    for option, (value, allowed) in choices.items():
        if value not in allowed:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, allowed))}", param_hint=option)
    if n not in ("bic", "icl") and not (n.isdecimal() and int(n) > 0):
        raise typer.BadParameter(f"{n!r} is not a number from 1 up, 'bic' or 'icl'", param_hint="-n")
    survey = sources.load(file, **how.arguments(features=features))
    found = analysis.segments(
        survey,
        survey.X if features else None,
        int(n) if n.isdecimal() else n,  # type: ignore[arg-type]
        model=model,  # type: ignore[arg-type]
        distance=distance,  # type: ignore[arg-type]
        max_segments=most,
        n_init=starts,
        n_bootstrap=bootstrap,
        categorical_features=survey.categorical_features if features else None,
        random_state=seed,
        n_jobs=jobs,
    )
    if members is not None:
        _write_members(members, survey, found)
    _show(found, {"data": shown_name(file), "seed": seed}, out, as_json, "SegmentDisplay", _cautions(survey))


def _check_rule(rule: str | None) -> None:
    known = get_args(ConsensusRule)
    if rule is not None and rule not in known:
        raise typer.BadParameter(f"{rule!r} is not one of {', '.join(map(repr, known))}", param_hint="--method")


def _cautions(survey: Any) -> list[str]:
    """What to know of the rows before a result is read: what blanks say, and who may count twice or not at all."""
    return [*_of_blanks(survey), *survey.cautions]


def _of_blanks(survey: Any) -> list[str]:
    """How blanks were read, if they may say something else, and who left as many of them."""
    from rankwise.analysis.base import as_options

    reading = survey.reading
    if reading is None or reading.blanks != "missing":
        return []
    return [as_options(line) for line in reading.lines() if line.startswith("Blanks are") or line in reading.notes]


def _show(
    found: Any,
    facts: Mapping[str, Any],
    out: Path | None,
    as_json: bool,
    display: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Print a result as tables or JSON, and write it to a file: tables, or the picture that a class makes of it."""
    from rankwise.cli import console

    numbers = {**facts, **found.as_dict()}
    if out is not None and out.suffix.lower() in PICTURES:
        import matplotlib

        from rankwise import plots

        matplotlib.use("agg")
        getattr(plots, display).from_result(found).save(out)
    elif out is not None:
        from rankwise.cli.in_and_out import write_tables

        write_tables(found.tables(), out, numbers)
    if as_json:
        console.print_json(numbers)
        return
    console.print_notes(notes)
    console.print_tables(found.tables())


def _write_members(path: Path, survey: Any, found: Any) -> None:
    """Write a row for each person: id or number of the row, the segment, and the probability of each."""
    import csv

    from rankwise._table_files import harmless

    ids = range(1, len(found.labels) + 1) if survey.id is None else survey.id
    names = [profile.name for profile in found.profiles]
    with replacing(path) as beside, open(beside, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row" if survey.id is None else "id", "segment", *map(harmless, names)])
        for who, label, shares in zip(ids, found.labels.tolist(), found.memberships.tolist(), strict=True):
            name = "" if label < 0 else harmless(names[label])
            writer.writerow([harmless(str(who)), name, *(f"{share:.4f}" for share in shares)])
