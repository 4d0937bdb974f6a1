"""``rankwise kernel``: how similar rankings are, as a Gram matrix or as vectors."""

from __future__ import annotations

import csv
import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise._replacing import replacing
from rankwise.cli.options import (
    DETECTED,
    Data,
    HowToRead,
    Jobs,
    Json,
    Seed,
    checked_suffix,
    reads_rankings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwise._typing import FloatArray
    from rankwise.data import Rankings
    from rankwise.kernels import RankingSimilarity, RankingVectors
    from rankwise.kernels.gram import Gram

# More numbers than this are not for people; Excel has no more columns.
_MOST_CELLS, _MOST_COLUMNS = 1_000_000, 16_383


class Kernel(StrEnum):
    """Kernels of rankings."""

    KENDALL = "kendall"
    MALLOWS = "mallows"
    GRAPH_CUT = "graph-cut"


@reads_rankings("ignore")
def kernel(
    file: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to write: .npy or .csv; a small one also .xlsx, .json or .md."
        ),
    ] = None,
    which: Annotated[Kernel, typer.Option("--kernel", help="How similar two rankings are.")] = Kernel.KENDALL,
    embed: Annotated[
        bool, typer.Option("--embed", help="Vectors whose inner products are the kernel, instead of the matrix.")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Table of item features for graph-cut, names of the items in column 1."),
    ] = None,
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Divide these features by their standard deviations first.")
    ] = False,
    scale: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="X", help="How fast the Mallows kernel falls with each pair in the other order; default: 1."
        ),
    ] = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Every ranking has kernel 1 with itself.")] = False,
    float32: Annotated[bool, typer.Option("--float32", help="Numbers of 32 bits: half of the memory.")] = False,
    max_memory: Annotated[
        float, typer.Option(min=0, metavar="GIB", help="Refuse a result that takes more memory.")
    ] = 8.0,
    how: HowToRead = DETECTED,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Measure how similar rankings are to each other: a matrix with a number for each pair, and its summary."""
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable

    _check_kernel_options(which, embed, features, standardize, scale, normalize)
    check_writable(out, file, *([features] if features else []))
    checked_suffix(out, also=(".npy",))
    from rankwise.kernels import ranking_similarity, ranking_vectors

    rankings = sources.load(file, **how.arguments()).rankings
    dtype = "float32" if float32 else "float64"
    _check_cells(rankings, which, out, embed=embed)
    size = _check_size(rankings, which, dtype, embed=embed, max_memory=max_memory)
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "dtype": dtype}
    shared["max_bytes"] = math.ceil(max_memory * 2**30)
    if features is not None:
        shared["features"] = _read_item_features(features, rankings, standardize=standardize)
    result: RankingSimilarity | RankingVectors
    with console.progress() as on_step:
        on_step(f"{which} kernel of {console.counted(len(rankings), 'ranking')}, {size}", 0.1)
        if embed:
            result = ranking_vectors(rankings, str(which), **shared)  # type: ignore[arg-type]
        else:
            shared |= {"scale": 1.0 if scale is None else scale, "normalize": normalize}
            result = ranking_similarity(rankings, str(which), **shared)  # type: ignore[arg-type]
        on_step("writing", 0.9)
        if out is not None:
            _write(out, result)
    if as_json:
        console.print_json({**_facts(result), "out": None if out is None else str(out)})
    else:
        console.print_tables([result.table()])
        if out is not None:
            console.print_lines([f"{'Vectors' if embed else 'Matrix'}: {out}"])


def _check_kernel_options(
    which: Kernel, embed: bool, features: str | None, standardize: bool, scale: float | None, normalize: bool
) -> None:
    if scale is not None and which is not Kernel.MALLOWS:
        raise typer.BadParameter(f"the {which} kernel has no --scale; --kernel mallows has")
    if features is not None and which is not Kernel.GRAPH_CUT:
        raise typer.BadParameter(f"the {which} kernel does not use features of items; --kernel graph-cut does")
    if standardize and features is None:
        raise typer.BadParameter("--standardize is for --features; give them")
    if embed and which is Kernel.MALLOWS:
        raise typer.BadParameter(
            "the Mallows kernel has no vectors of finitely many numbers; give --kernel kendall or graph-cut"
        )
    if normalize and (embed or which is Kernel.MALLOWS):
        raise typer.BadParameter("--normalize is for Gram matrices of the Kendall and the graph cut kernel")


def _check_size(rankings: Rankings, kernel: str, dtype: str, *, embed: bool, max_memory: float) -> str:
    """How much memory the result takes, in words; too much is refused, with what takes less.

    Parameters
    ----------
    rankings : Rankings
    kernel : {"kendall", "mallows", "graph-cut"}
    dtype : {"float64", "float32"}
    embed : bool
        Whether vectors are wanted, not a matrix.
    max_memory : float
        In GiB.

    Returns
    -------
    str
    """
    from rankwise.kernels.similarity import size_in_words, vector_length

    n, k, number = len(rankings), rankings.n_items, {"float64": 8, "float32": 4}[dtype]
    widths = {name: vector_length(name, k) for name in ("kendall", "graph-cut")}
    size = n * (widths[kernel] if embed else n) * number
    if size <= max_memory * 2**30:
        return size_in_words(size)
    cures = []
    if not embed and kernel in widths:
        cures.append(f"--embed (vectors, {size_in_words(n * widths[kernel] * number)})")
    if kernel != "graph-cut":
        cures.append(f"--kernel graph-cut --embed (vectors, {size_in_words(n * k * number)})")
    if dtype == "float64":
        cures.append("--float32 (half of it)")
    what = "vectors" if embed else "Gram matrix"
    raise ValueError(
        f"the {what} of {n:,} rankings would take {size_in_words(size)}, more than --max-memory {max_memory:g} (GiB). "
        f"Cures: {', '.join([*cures, 'a larger --max-memory'])}"
    )


def _check_cells(rankings: Rankings, kernel: str, out: Path | None, *, embed: bool) -> None:
    """Refuse a file for people that would hold more numbers than programs for people open."""
    from rankwise.kernels.similarity import vector_length

    if out is None or out.suffix.lower() in (".npy", ".csv"):
        return
    n = len(rankings)
    width = vector_length(kernel, rankings.n_items) if embed else n
    if n * width > _MOST_CELLS or width > _MOST_COLUMNS:
        raise ValueError(
            f"{out} would hold {n:,} x {width:,} numbers, too many for {out.suffix}; write .npy or .csv instead"
        )


def _read_item_features(name: str, rankings: Rankings, *, standardize: bool) -> FloatArray:
    """Features from a table, in the order of the items, which its first column names; it may hold more items."""
    import numpy as np

    from rankwise.cli.in_and_out import readable
    from rankwise.data.formats.delimited import read_table
    from rankwise.data.formats.tables import covariates
    from rankwise.data.formats.text import listed

    with readable(name) as path:
        table = read_table(path)
        first = table.header[0]
        columns = covariates(table, leave_out=[first])
        texts = [column for column, values in columns.items() if values.dtype.kind != "f"]
        if texts or not columns:
            problem = f"the columns {listed(texts)} do not hold numbers" if texts else "there is only one column"
            raise table.error(problem, cure="Names of the items stand in the first column, numbers in all others.")
        row_of = {item: row for row, item in enumerate(table.column(first))}
        absent = [str(item) for item in rankings.items if str(item) not in row_of]
        if absent:
            raise table.error(
                f"the rankings hold {listed(absent)}, but the column {first!r} does not",
                cure="Add a row for every item, or drop the items from the rankings.",
            )
        rows = [row_of[str(item)] for item in rankings.items]
        features = np.column_stack(list(columns.values()))[rows]
        empty = np.argwhere(np.isnan(features))
        if len(empty):
            item, column = empty[0]
            cure = "Fill it in, or drop the column."
            raise table.error("the cell is empty", row=rows[item], column=list(columns)[column], cure=cure)
    if standardize:
        spread = features.std(axis=0)
        features /= np.where(spread > 0, spread, 1.0)
    return features


def _write(path: Path, result: RankingSimilarity | RankingVectors) -> None:
    """Write numbers for NumPy, as CSV with a header if the columns have names, or below the summary for people."""
    import numpy as np

    from rankwise._table_files import harmless, save_tables
    from rankwise._tables import TextTable

    matrix: Gram = result.values
    columns: Sequence[str] | None = getattr(result, "columns", None)
    suffix = path.suffix.lower()
    if suffix == ".npy":
        with replacing(path) as beside:
            np.save(beside, matrix, allow_pickle=False)
        return
    if suffix != ".csv":
        names = [f"ranking {i + 1}" for i in range(len(matrix))]
        title, header = ("Matrix", names) if columns is None else ("Vectors", columns)
        rows = [[name, *map(str, row.tolist())] for name, row in zip(names, matrix, strict=True)]
        facts = {**_facts(result), "columns": list(header), "values": matrix.tolist()}
        save_tables([result.table(), TextTable(title, "", ["", *header], rows)], path, facts=facts)
        return
    with replacing(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if columns is not None:
            writer.writerow(map(harmless, columns))
        for row in matrix:
            writer.writerow(row.tolist())


def _facts(result: RankingSimilarity | RankingVectors) -> dict[str, Any]:
    """What the result is, and for matrices which values it has, for JSON."""
    spreads = {name: getattr(result, name, None) for name in ("with_itself", "with_another")}
    return {
        "kernel": result.kernel,
        "n_rankings": result.n_rankings,
        "n_items": result.n_items,
        "kind": result.kind,
        "shape": list(result.values.shape),
        "n_bytes": result.n_bytes,
        **{name: spread._asdict() for name, spread in spreads.items() if spread is not None},
    }
