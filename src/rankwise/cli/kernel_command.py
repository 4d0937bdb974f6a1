"""``rankwise kernel``: how similar rankings are, as a Gram matrix or as vectors."""

from __future__ import annotations

import csv
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings

if TYPE_CHECKING:
    from rankwise._tables import TextTable
    from rankwise._typing import FloatArray
    from rankwise.data import Rankings
    from rankwise.kernels.gram import Gram


class Kernel(StrEnum):
    """Kernels of rankings."""

    KENDALL = "kendall"
    MALLOWS = "mallows"
    GRAPH_CUT = "graph-cut"


def kernel(
    file: Data,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write: .npy, or .csv.")
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
        typer.Option(min=0, help="How fast the Mallows kernel falls with each pair in the other order; default: 1."),
    ] = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Every ranking has kernel 1 with itself.")] = False,
    float32: Annotated[bool, typer.Option("--float32", help="Numbers of 32 bits: half of the memory.")] = False,
    max_memory: Annotated[
        float, typer.Option(min=0, metavar="GIB", help="Refuse a result that takes more memory.")
    ] = 8.0,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Compare all rankings with each other: a matrix for whatever takes a kernel, and its summary."""
    from rankwise.cli import console, sources
    from rankwise.cli.in_and_out import check_writable

    _check_kernel_options(which, embed, features, standardize, scale, normalize)
    check_writable(out, file, *([features] if features else []))
    if out is not None and out.suffix not in (".npy", ".csv"):
        raise typer.BadParameter(f"{out} does not end in .npy or .csv", param_hint="--out")
    rankings = sources.load(file, target=target, reading=settings(read, "--read")).rankings
    dtype = "float32" if float32 else "float64"
    size = _check_size(rankings, which, dtype, embed=embed, max_memory=max_memory)
    shared: dict[str, Any] = {"seed": seed, "jobs": jobs, "dtype": dtype}
    if features is not None:
        shared["features"] = _read_item_features(features, rankings, standardize=standardize)
    with console.progress() as on_step:
        on_step(f"{which} kernel of {console.counted(len(rankings), 'ranking')}, {size}", 0.1)
        if embed:
            matrix, columns = _vectors(rankings, which, **shared)
        else:
            matrix, columns = _gram(rankings, which, scale=scale, normalize=normalize, **shared), None
        on_step("writing", 0.9)
        if out is not None:
            _write(out, matrix, columns)
    facts = _summary(rankings, which, matrix, embed=embed)
    if as_json:
        console.print_json({**facts, "out": None if out is None else str(out)})
    else:
        console.print_tables([_table(facts, rankings)])
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


def _table(summary: dict[str, Any], rankings: Rankings) -> TextTable:
    from rankwise._tables import TextTable, counted

    height, width = summary["shape"]
    rows = [
        ["rankings", f"{summary['n_rankings']:,} of {counted(summary['n_items'], 'item')}, {summary['kind']}"],
        ["numbers", f"{height:,} x {width:,}, {_size_in_words(summary['n_bytes'])}"],
    ]
    for key, words in (("with_itself", "of a ranking with itself"), ("with_another", "of two rankings")):
        if key in summary:
            rows.append([words, "{min:z.4g} to {max:z.4g}, mean {mean:z.4g}".format(**summary[key])])
    weighs = rankings.weights.sum()
    note = "larger = more similar"
    if weighs != len(rankings):
        note += f"; one row per distinct ranking of the file, which weigh {weighs:,.10g} together"
    return TextTable(f"Kernel: {summary['kernel']}", note, ["", ""], rows)


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
    n, k, number = len(rankings), rankings.n_items, {"float64": 8, "float32": 4}[dtype]
    widths = {"kendall": k * (k - 1) // 2, "graph-cut": k}
    size = n * (widths[kernel] if embed else n) * number
    if size <= max_memory * 2**30:
        return _size_in_words(size)
    cures = []
    if not embed and kernel in widths:
        cures.append(f"--embed (vectors, {_size_in_words(n * widths[kernel] * number)})")
    if kernel != "graph-cut":
        cures.append(f"--kernel graph-cut --embed (vectors, {_size_in_words(n * k * number)})")
    if dtype == "float64":
        cures.append("--float32 (half of it)")
    what = "vectors" if embed else "Gram matrix"
    raise ValueError(
        f"the {what} of {n:,} rankings would take {_size_in_words(size)}, more than --max-memory {max_memory:g} (GiB). "
        f"Cures: {', '.join([*cures, 'a larger --max-memory'])}"
    )


def _read_item_features(name: str, rankings: Rankings, *, standardize: bool) -> FloatArray:
    """Features from a table, in the order of the items, which its first column names; it may hold more items."""
    import numpy as np

    from rankwise.cli.in_and_out import readable
    from rankwise.data.formats.text import covariates, listed, read_table

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


def _gram(
    rankings: Rankings,
    kernel: str,
    *,
    scale: float | None,
    normalize: bool,
    dtype: str,
    seed: int,
    jobs: int,
    features: FloatArray | None = None,
) -> Gram:
    """The kernel of all rankings with each other; larger = more similar."""
    from rankwise.kernels import graph_cut_kernel, kendall_kernel, mallows_kernel

    # The size was checked before, with a message in the words of the command.
    shared: dict[str, Any] = {"dtype": dtype, "n_jobs": jobs, "max_bytes": 8 * len(rankings) ** 2}
    if kernel == "kendall":
        return kendall_kernel(rankings, normalize=normalize, **shared)
    if kernel == "mallows":
        return mallows_kernel(rankings, scale=1.0 if scale is None else scale, **shared)
    return graph_cut_kernel(rankings, features=features, normalize=normalize, random_state=seed, **shared)


def _vectors(
    rankings: Rankings, kernel: str, *, dtype: str, seed: int, jobs: int, features: FloatArray | None = None
) -> tuple[Gram, list[str]]:
    """Vectors whose inner products are the kernel, and the names of their numbers."""
    from rankwise.embeddings import GraphCutEmbedding
    from rankwise.kernels.kendall_gram import kendall_features

    items = [str(item) for item in rankings.items]
    if kernel == "kendall":
        pairs = [f"{first} > {second}" for first, second in combinations(items, 2)]
        return kendall_features(rankings).astype(dtype, copy=False), pairs
    embedding = GraphCutEmbedding(features=features, random_state=seed, n_jobs=jobs).set_output(transform="default")
    return embedding.fit(rankings).transform(rankings).astype(dtype, copy=False), items


def _write(path: Path, matrix: Gram, columns: list[str] | None) -> None:
    """Write numbers for NumPy, or as CSV with a header if the columns have names."""
    import numpy as np

    if path.suffix == ".npy":
        np.save(path, matrix, allow_pickle=False)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if columns is not None:
            writer.writerow(columns)
        for row in matrix:
            writer.writerow(row.tolist())


def _summary(rankings: Rankings, kernel: str, matrix: Gram, *, embed: bool) -> dict[str, Any]:
    """What the result is, and for matrices which values it has, for JSON."""
    import numpy as np

    facts: dict[str, Any] = {
        "kernel": str(kernel),
        "n_rankings": len(rankings),
        "n_items": rankings.n_items,
        "kind": rankings.kind,
        "shape": list(matrix.shape),
        "n_bytes": matrix.nbytes,
    }
    if embed or len(matrix) < 2:
        return facts
    own = np.diagonal(matrix).astype(np.float64)
    # Views of the rows: a copy of the matrix may not fit.
    others = [row[place + 1 :] for place, row in enumerate(matrix[:-1])]
    mean = (matrix.sum(dtype=np.float64) - own.sum()) / (len(matrix) * (len(matrix) - 1))
    facts["with_itself"] = _spread(own.min(), own.mean(), own.max())
    facts["with_another"] = _spread(min(row.min() for row in others), mean, max(row.max() for row in others))
    return facts


def _size_in_words(n_bytes: int) -> str:
    """Bytes in a unit that makes a short number."""
    if n_bytes < 1024:
        return f"{n_bytes} bytes"
    size, units = n_bytes / 1024, ["KiB", "MiB", "GiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{size:,.1f} {units[0]}"


def _spread(low: float, mean: float, high: float) -> dict[str, float]:
    return {"min": float(low), "mean": float(mean), "max": float(high)}
