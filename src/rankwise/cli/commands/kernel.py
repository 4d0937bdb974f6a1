"""``rankwise kernel``: how alike rankings are, as a Gram matrix or as vectors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rankwise._typing import FloatArray
    from rankwise.cli.console import TextTable
    from rankwise.data import Rankings

    Matrix = npt.NDArray[np.floating[Any]]


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
    which: Annotated[Kernel, typer.Option("--kernel", help="How alike two rankings are.")] = Kernel.KENDALL,
    embed: Annotated[
        bool, typer.Option("--embed", help="Vectors whose inner products are the kernel, in place of the matrix.")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Table of item features for graph-cut, names of the items in column 1."),
    ] = None,
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Divide these features by their standard deviations first.")
    ] = False,
    scale: Annotated[
        float, typer.Option(min=0, help="How fast the Mallows kernel falls with each pair in the other order.")
    ] = 1.0,
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
    from rankwise.cli.files import check_writable

    _check_options(which, embed, features, standardize, normalize)
    check_writable(out, file, *([features] if features else []))
    if out is not None and out.suffix not in (".npy", ".csv"):
        raise typer.BadParameter(f"{out} is neither .npy nor .csv; name it so", param_hint="--out")
    rankings = sources.load(file, target=target, reading=settings(read, "--read")).rankings
    dtype = "float32" if float32 else "float64"
    _check_size(rankings, which, embed, 4 if float32 else 8, max_memory)
    item_features = _item_features(features, rankings, standardize) if features else None
    with console.progress() as on_step:
        on_step(f"{which.value} kernel of {len(rankings):,} rankings", 0.1)
        if embed:
            matrix, columns = _vectors(rankings, which, item_features, seed, jobs)
            matrix = matrix.astype(dtype, copy=False)
        else:
            matrix, columns = _gram(rankings, which, item_features, scale, normalize, dtype, seed, jobs), None
        on_step("writing", 0.9)
        if out is not None:
            _write(out, matrix, columns)
    summary = _summary(rankings, which, matrix, embed)
    if as_json:
        console.print_json({**summary, "out": None if out is None else str(out)})
    else:
        console.print_tables([_table(summary, rankings)])
        if out is not None:
            console.print_lines([f"{'Vectors' if embed else 'Matrix'}: {out}"])


# ---------------------------------------------------------------------------------------------------------------


def _check_options(which: Kernel, embed: bool, features: str | None, standardize: bool, normalize: bool) -> None:
    if features is not None and which is not Kernel.GRAPH_CUT:
        raise typer.BadParameter(f"the {which.value} kernel knows no features of items; --kernel graph-cut does")
    if standardize and features is None:
        raise typer.BadParameter("--standardize is for --features; give them")
    if embed and which is Kernel.MALLOWS:
        raise typer.BadParameter(
            "the Mallows kernel has no vectors of finitely many numbers; give --kernel kendall or graph-cut"
        )
    if normalize and (embed or which is Kernel.MALLOWS):
        raise typer.BadParameter("--normalize is for Gram matrices of the Kendall and the graph cut kernel")


def _check_size(rankings: Rankings, which: Kernel, embed: bool, bytes_per_number: int, max_memory: float) -> None:
    """Refuse what takes too much memory before anything is computed, with what would take less."""
    n, k = len(rankings), rankings.n_items
    widths = {Kernel.KENDALL: k * (k - 1) // 2, Kernel.GRAPH_CUT: k}
    size = n * (widths[which] if embed else n) * bytes_per_number
    if size <= max_memory * 2**30:
        return
    cures = []
    if not embed and which in widths:
        cures.append(f"--embed (vectors, {_size(n * widths[which] * bytes_per_number)})")
    if which is not Kernel.GRAPH_CUT:
        cures.append(f"--kernel graph-cut --embed (vectors, {_size(n * k * bytes_per_number)})")
    if bytes_per_number == 8:
        cures.append("--float32 (half of it)")
    what = "vectors" if embed else "Gram matrix"
    raise ValueError(
        f"the {what} of {n:,} rankings would take {_size(size)}, more than --max-memory {max_memory:g} (GiB). Cures: "
        f"{', '.join([*cures, 'a larger --max-memory'])}"
    )


def _item_features(path: str, rankings: Rankings, standardize: bool) -> FloatArray:
    """Features in the order of the items, which the first column names."""
    import numpy as np

    from rankwise.cli.files import readable
    from rankwise.data.formats.table import covariates, listed, read_table

    with readable(path) as file:
        table = read_table(file)
        columns = covariates(table, leave_out=table.header[:1])
        texts = [name for name, column in columns.items() if column.dtype.kind != "f"]
        if texts or not columns:
            problem = f"the columns {listed(texts)} hold no numbers" if texts else "there is one column alone"
            raise table.error(problem, cure="Names of the items stand in the first column, numbers in all others.")
        row_of = {name: row for row, name in enumerate(table.column(table.header[0]))}
        absent = [str(item) for item in rankings.items if str(item) not in row_of]
        if absent:
            raise table.error(
                f"the rankings hold {listed(absent)}, but the column {table.header[0]!r} does not",
                cure="Add a row for every item, or leave the items out of the rankings.",
            )
        rows = [row_of[str(item)] for item in rankings.items]
        values = np.column_stack(list(columns.values()))
        for row, column in np.argwhere(np.isnan(values)):
            if row in rows:
                cure = "Fill it in, or leave the column out."
                raise table.error("the cell is empty", row=int(row), column=list(columns)[column], cure=cure)
    values = values[rows]
    if standardize:
        spread = values.std(axis=0)
        values = values / np.where(spread > 0, spread, 1.0)
    return values


def _gram(
    rankings: Rankings,
    which: Kernel,
    features: FloatArray | None,
    scale: float,
    normalize: bool,
    dtype: str,
    seed: int,
    jobs: int,
) -> Matrix:
    from rankwise import kernels

    # How large it may be was told before, in the words of the command.
    shared: dict[str, Any] = {"dtype": dtype, "n_jobs": jobs, "max_bytes": 8 * len(rankings) ** 2}
    if which is Kernel.KENDALL:
        return kernels.kendall_kernel(rankings, normalize=normalize, **shared)
    if which is Kernel.MALLOWS:
        return kernels.mallows_kernel(rankings, scale=scale, **shared)
    return kernels.graph_cut_kernel(rankings, features=features, normalize=normalize, random_state=seed, **shared)


def _vectors(
    rankings: Rankings, which: Kernel, features: FloatArray | None, seed: int, jobs: int
) -> tuple[Matrix, list[str]]:
    """Vectors and the names of their numbers."""
    from itertools import combinations

    from rankwise.embeddings import GraphCutEmbedding
    from rankwise.kernels.kendall import kendall_features

    items = [str(item) for item in rankings.items]
    if which is Kernel.KENDALL:
        return kendall_features(rankings), [f"{first} > {second}" for first, second in combinations(items, 2)]
    embedding = GraphCutEmbedding(features=features, random_state=seed, n_jobs=jobs)
    return embedding.set_output(transform="default").fit(rankings).transform(rankings), items


def _write(path: Path, matrix: Matrix, columns: list[str] | None) -> None:
    import csv

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


def _summary(rankings: Rankings, which: Kernel, matrix: Matrix, embed: bool) -> dict[str, Any]:
    import numpy as np

    summary: dict[str, Any] = {
        "kernel": which.value,
        "n_rankings": len(rankings),
        "n_items": rankings.n_items,
        "kind": rankings.kind,
        "shape": list(matrix.shape),
        "n_bytes": matrix.nbytes,
    }
    if embed or len(matrix) < 2:
        return summary
    # Views of the rows: a copy of the matrix may not fit.
    others = [row[place + 1 :] for place, row in enumerate(matrix[:-1])]
    own, total = np.diagonal(matrix), float(matrix.sum(dtype=np.float64))
    summary["with_itself"] = _spread(own.min(), own.mean(dtype=np.float64), own.max())
    mean = (total - own.sum(dtype=np.float64)) / (len(matrix) * (len(matrix) - 1))
    summary["with_another"] = _spread(min(row.min() for row in others), mean, max(row.max() for row in others))
    return summary


def _spread(low: float, mean: float, high: float) -> dict[str, float]:
    return {"min": float(low), "mean": float(mean), "max": float(high)}


def _table(summary: dict[str, Any], rankings: Rankings) -> TextTable:
    from rankwise.cli.console import TextTable

    height, width = summary["shape"]
    rows = [
        ["rankings", f"{summary['n_rankings']:,} of {summary['n_items']:,} items, {summary['kind']}"],
        ["numbers", f"{height:,} x {width:,}, {_size(summary['n_bytes'])}"],
    ]
    for key, words in (("with_itself", "of a ranking with itself"), ("with_another", "of two rankings")):
        if key in summary:
            rows.append([words, "{min:z.4g} to {max:z.4g}, mean {mean:z.4g}".format(**summary[key])])
    weighs = rankings.weights.sum()
    note = "larger = more alike"
    if weighs != len(rankings):
        note += f"; one row per distinct ranking of the file, which weigh {weighs:,.10g} together"
    return TextTable(f"Kernel: {summary['kernel']}", note, ["", ""], rows)


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":
            break
        n_bytes /= 1024
    return f"{n_bytes:,.0f} bytes" if unit == "bytes" else f"{n_bytes:,.1f} {unit}"
