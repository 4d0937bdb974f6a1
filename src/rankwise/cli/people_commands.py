"""The commands that ask about people: ``compare``, ``drivers``, ``raters``, ``robustness`` and ``segments``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from rankwise._decode import ConsensusRule
from rankwise.cli.options import (
    PICTURES,
    By,
    Data,
    DropBadRows,
    Features,
    Id,
    Ignore,
    Jobs,
    Json,
    Layout,
    Read,
    Seed,
    ShownOut,
    TableOut,
    Target,
    Weight,
    reading,
)

if TYPE_CHECKING:
    from rankwise._tables import TextTable

_DISTANCES = ("kendall", "spearman", "footrule", "hamming", "cayley")


def compare(
    file: Data,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="The column that says who is in which group.")],
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
    target: Target = None,
    layout: Layout = None,
    weight: Weight = None,
    id_: Id = None,
    read: Read = None,
    drop_bad_rows: DropBadRows = False,
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
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} is not between 0 and 1, as 0.95 is", param_hint="--level")
    if paired and strata is not None:
        raise typer.BadParameter("--paired compares people with themselves already; drop --strata")
    columns = {"layout": layout, "by": by, "weight": weight, "id": id_}
    more: dict[str, Any] = {} if strata is None else {"features": [strata]}
    survey = sources.load(file, **reading(target=target, read=read, drop_bad_rows=drop_bad_rows, **columns), **more)
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
    numbers = {"data": shown_name(file), "seed": seed, **found.as_dict()}
    _write(out, found.tables(), numbers, "GroupDifferenceDisplay", found)
    if as_json:
        console.print_json(numbers)
    else:
        # Paired people are in every group, so that their ids repeat.
        console.print_notes([] if paired else survey.cautions)
        console.print_tables(found.tables())


def drivers(
    file: Data,
    out: ShownOut = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show a tree, too, whose splits are significant, with its p-values.")
    ] = False,
    rows: Annotated[int, typer.Option(min=20, metavar="N", help="Of more people, look at a random sample.")] = 4000,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    target: Target = None,
    layout: Layout = None,
    weight: Weight = None,
    id_: Id = None,
    features: Features = None,
    ignore: Ignore = None,
    read: Read = None,
    drop_bad_rows: DropBadRows = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find which features drive the rankings, with tests, and how places change with each."""
    from rankwise import analysis
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} is not between 0 and 1, as 0.95 is", param_hint="--level")
    columns = {"layout": layout, "weight": weight, "id": id_, "features": features, "ignore": ignore}
    survey = sources.load(file, **reading(target=target, read=read, drop_bad_rows=drop_bad_rows, **columns))
    with console.progress() as on_step:
        on_step("drivers", 0.0)
        found = analysis.drivers(survey, level=level, max_rows=rows, random_state=seed, n_jobs=jobs)
        grown = analysis.drivers_tree(survey, level=level) if tree else None
    lines = [] if grown is None else grown.export_text().split("\n")
    numbers = {"data": shown_name(file), "seed": seed, **found.as_dict(), **({"tree": lines} if tree else {})}
    _write(out, found.tables(), numbers, "DriversDisplay", found)
    if as_json:
        console.print_json(numbers)
        return
    console.print_tables(found.tables())
    if lines:
        note = "every split is significant, corrected for the number of features"
        console.print_lines(lines, title="Tree", note=note)


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
    target: Target = None,
    layout: Layout = None,
    weight: Weight = None,
    id_: Id = None,
    read: Read = None,
    drop_bad_rows: DropBadRows = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Look at people one by one: who agrees, who stands apart, who votes together, how reliable all are."""
    from rankwise import analysis
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    check_writable(out, file)
    _check_rule(method)
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} is not between 0 and 1, as 0.95 is", param_hint="--level")
    columns = {"layout": layout, "weight": weight, "id": id_}
    survey = sources.load(file, **reading(target=target, read=read, drop_bad_rows=drop_bad_rows, **columns))
    with console.progress() as on_step:
        on_step("comparing people", 0.0)
        found = analysis.raters(
            survey,
            decode=method,  # type: ignore[arg-type]
            level=level,
            n_simulations=simulations,
            random_state=seed,
        )
    numbers = {"data": shown_name(file), "seed": seed, **found.as_dict()}
    _write(out, found.tables(), numbers, "RaterMapDisplay", found)
    if as_json:
        console.print_json(numbers)
    else:
        console.print_tables(found.tables())


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
        float, typer.Option(min=0, metavar="SECONDS", help="For all margins; bounds are shown where it ends.")
    ] = 20.0,
    target: Target = None,
    layout: Layout = None,
    by: By = None,
    weight: Weight = None,
    id_: Id = None,
    read: Read = None,
    drop_bad_rows: DropBadRows = False,
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
    columns = {"layout": layout, "by": by, "weight": weight, "id": id_}
    survey = sources.load(file, **reading(target=target, read=read, drop_bad_rows=drop_bad_rows, **columns))
    with console.progress() as on_step:
        on_step("leaving out people, groups and items", 0.0)
        found = analysis.robustness(
            survey,
            decode=method,  # type: ignore[arg-type]
            rules=chosen,  # type: ignore[arg-type]
            time_limit=time_limit,
        )
    numbers = {"data": shown_name(file), **found.as_dict()}
    _write(out, found.tables(), numbers)
    if as_json:
        console.print_json(numbers)
    else:
        console.print_tables(found.tables())


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
    target: Target = None,
    layout: Layout = None,
    weight: Weight = None,
    id_: Id = None,
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="What may say who is in which segment: age,city; default: nothing."),
    ] = None,
    read: Read = None,
    drop_bad_rows: DropBadRows = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Find groups of people who rank alike: how many, how large, what they like, and who is in them."""
    from rankwise import analysis
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable, shown_name

    for path in (out, members):
        check_writable(path, file)
    choices = {"--model": (model, ("mallows", "plackett-luce")), "--distance": (distance, _DISTANCES)}
    for option, (value, allowed) in choices.items():
        if value not in allowed:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, allowed))}", param_hint=option)
    if n not in ("bic", "icl") and not (n.isdecimal() and int(n) > 0):
        raise typer.BadParameter(f"{n!r} is not a number from 1 up, 'bic' or 'icl'", param_hint="-n")
    columns = {"layout": layout, "weight": weight, "id": id_, "features": features}
    survey = sources.load(file, **reading(target=target, read=read, drop_bad_rows=drop_bad_rows, **columns))
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
    numbers = {"data": shown_name(file), "seed": seed, **found.as_dict()}
    _write(out, found.tables(), numbers, "SegmentDisplay", found)
    if members is not None:
        _write_members(members, survey, found)
    if as_json:
        console.print_json(numbers)
    else:
        console.print_tables(found.tables())


def _check_rule(rule: str | None) -> None:
    known = get_args(ConsensusRule)
    if rule is not None and rule not in known:
        raise typer.BadParameter(f"{rule!r} is not one of {', '.join(map(repr, known))}", param_hint="--method")


def _write(
    out: Path | None, tables: Sequence[TextTable], facts: Mapping[str, Any], display: str = "", result: Any = None
) -> None:
    """Write the tables to a file, or by its suffix the picture that a class of `rankwise.plots` makes of the result."""
    from rankwise._table_files import save_tables

    if out is None:
        return
    if out.suffix.lower() not in PICTURES:
        save_tables(tables, out, facts=facts)
        return
    import matplotlib

    from rankwise import plots

    matplotlib.use("agg")
    getattr(plots, display).from_result(result).save(out)


def _write_members(path: Path, survey: Any, found: Any) -> None:
    """Write a row for each person: id or number of the row, the segment, and the probability of each."""
    import csv

    ids = range(1, len(found.labels) + 1) if survey.id is None else survey.id
    names = [profile.name for profile in found.profiles]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row" if survey.id is None else "id", "segment", *names])
        for who, label, shares in zip(ids, found.labels.tolist(), found.memberships.tolist(), strict=True):
            writer.writerow([who, "" if label < 0 else names[label], *(f"{share:.4f}" for share in shares)])
