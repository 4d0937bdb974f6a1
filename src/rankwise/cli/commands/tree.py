"""``rankwise tree``: who ranks how, as a tree of conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.cli.models import Model
from rankwise.cli.options import Data, Json, Out, Read, Seed, Target, settings

_PICTURES = (".png", ".svg", ".pdf")
_TEXTS = (".txt", ".dot")


def tree(
    file: Data,
    out: Out = None,
    max_depth: Annotated[int, typer.Option(min=1, metavar="N", help="Most conditions above a leaf.")] = 3,
    min_samples_leaf: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Fewest rankings of a leaf; default: one in 20 of all.")
    ] = None,
    prune: Annotated[bool, typer.Option(help="Prune by cross-validation.")] = True,
    target: Target = None,
    read: Read = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Grow a tree that tells who ranks how: text, or a picture by the ending of --out (png, svg, pdf, dot)."""
    from rankwise.cli import console, sources
    from rankwise.cli.files import check_writable, shown_name, write_text
    from rankwise.cli.models import fit_ranker, make_ranker

    check_writable(out, file)
    if out is not None and out.suffix.lower() not in (*_TEXTS, *_PICTURES):
        endings = ", ".join((*_TEXTS, *_PICTURES))
        raise typer.BadParameter(f"{out} has no ending that tells what to write: {endings}", param_hint="--out")
    source = sources.load(file, target=target, reading=settings(read, "--read"))
    params = {
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf or max(1, len(source.rankings) // 20),
        "ccp_alpha": "cv" if prune else 0.0,
    }
    ranker = make_ranker(Model.TREE, params=params, categorical=source.categorical, seed=seed, jobs=1)
    with console.progress() as on_step:
        on_step("growing a tree", 0.0)
        fit_ranker(ranker, source)
    console.print_notes(source.notes)
    if out is not None:
        _write(ranker, out)
    if as_json:
        importances = dict(zip(source.feature_names, ranker.feature_importances_.tolist(), strict=True))
        facts = {"data": shown_name(file), "n_leaves": ranker.get_n_leaves(), "depth": ranker.get_depth()}
        console.print_json({**facts, "importances": importances, "tree": ranker.export_text()})
    elif out is None:
        names = [*ranker.items_, *source.feature_names]
        write_text(None, f"{console.with_short_names(ranker.export_text(), names)}\n")
    else:
        console.print_lines([f"A tree of {console.counted(ranker.get_n_leaves(), 'leaf', 'leaves')}: {out}"])


def _write(ranker: Any, out: Path) -> None:
    from rankwise.cli.files import write_text

    ending = out.suffix.lower()
    if ending in _TEXTS:
        write_text(out, f"{ranker.export_text() if ending == '.txt' else ranker.export_graphviz()}\n")
        return
    import matplotlib

    matplotlib.use("agg")  # no window, and no display needed
    from rankwise.plots import RankingTreeDisplay

    RankingTreeDisplay.from_estimator(ranker).figure_.savefig(out, dpi=200)
