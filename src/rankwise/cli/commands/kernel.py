"""``rankwise kernel``: how alike rankings are, as a Gram matrix or as vectors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Data, Jobs, Json, Read, Seed, Target, settings

if TYPE_CHECKING:
    from rankwise.cli.console import TextTable
    from rankwise.data import Rankings


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
    from rankwise.cli import console, grams, sources
    from rankwise.cli.files import check_writable

    _check_options(which, embed, features, standardize, scale, normalize)
    check_writable(out, file, *([features] if features else []))
    if out is not None and out.suffix not in (".npy", ".csv"):
        raise typer.BadParameter(f"{out} is neither .npy nor .csv; name it so", param_hint="--out")
    rankings = sources.load(file, target=target, reading=settings(read, "--read")).rankings
    dtype = "float32" if float32 else "float64"
    size = grams.check_size(rankings, which, dtype, embed=embed, max_memory=max_memory)
    shared: dict[str, Any] = {"seed": seed, "jobs": jobs, "dtype": dtype}
    if features is not None:
        shared["features"] = grams.read_item_features(features, rankings, standardize=standardize)
    with console.progress() as on_step:
        on_step(f"{which} kernel of {console.counted(len(rankings), 'ranking')}, {size}", 0.1)
        if embed:
            matrix, columns = grams.vectors(rankings, which, **shared)
        else:
            matrix, columns = grams.gram(rankings, which, scale=scale, normalize=normalize, **shared), None
        on_step("writing", 0.9)
        if out is not None:
            grams.write(out, matrix, columns)
    summary = grams.summary(rankings, which, matrix, embed=embed)
    if as_json:
        console.print_json({**summary, "out": None if out is None else str(out)})
    else:
        console.print_tables([_table(summary, rankings)])
        if out is not None:
            console.print_lines([f"{'Vectors' if embed else 'Matrix'}: {out}"])


def _check_options(
    which: Kernel, embed: bool, features: str | None, standardize: bool, scale: float | None, normalize: bool
) -> None:
    if scale is not None and which is not Kernel.MALLOWS:
        raise typer.BadParameter(f"the {which} kernel has no --scale; --kernel mallows has")
    if features is not None and which is not Kernel.GRAPH_CUT:
        raise typer.BadParameter(f"the {which} kernel knows no features of items; --kernel graph-cut does")
    if standardize and features is None:
        raise typer.BadParameter("--standardize is for --features; give them")
    if embed and which is Kernel.MALLOWS:
        raise typer.BadParameter(
            "the Mallows kernel has no vectors of finitely many numbers; give --kernel kendall or graph-cut"
        )
    if normalize and (embed or which is Kernel.MALLOWS):
        raise typer.BadParameter("--normalize is for Gram matrices of the Kendall and the graph cut kernel")


def _table(summary: dict[str, Any], rankings: Rankings) -> TextTable:
    from rankwise.cli.console import TextTable, counted
    from rankwise.cli.grams import size_in_words

    height, width = summary["shape"]
    rows = [
        ["rankings", f"{summary['n_rankings']:,} of {counted(summary['n_items'], 'item')}, {summary['kind']}"],
        ["numbers", f"{height:,} x {width:,}, {size_in_words(summary['n_bytes'])}"],
    ]
    for key, words in (("with_itself", "of a ranking with itself"), ("with_another", "of two rankings")):
        if key in summary:
            rows.append([words, "{min:z.4g} to {max:z.4g}, mean {mean:z.4g}".format(**summary[key])])
    weighs = rankings.weights.sum()
    note = "larger = more alike"
    if weighs != len(rankings):
        note += f"; one row per distinct ranking of the file, which weigh {weighs:,.10g} together"
    return TextTable(f"Kernel: {summary['kernel']}", note, ["", ""], rows)
