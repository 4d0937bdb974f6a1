"""``rankwise rank-train``: learn to order search results."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import Jobs, Json, Params, Seed, ZeroBased, settings

if TYPE_CHECKING:
    from rankwise.cli.console import TextTable
    from rankwise.cli.documents import Documents


class Model(StrEnum):
    """Rankers of search results."""

    LAMBDAMART = "lambdamart"
    LINEAR = "linear"
    NEURAL = "neural"


def rank_train(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="LETOR (SVMlight) file, - for standard input, a folder with train, vali and test, or 'synthetic'.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Where to save the ranker.")],
    valid: Annotated[
        str | None, typer.Option(metavar="FILE", help="Queries that training watches, to stop in time.")
    ] = None,
    model: Annotated[Model, typer.Option(help="Which ranker; neural needs the extra of that name.")] = Model.LAMBDAMART,
    metric: Annotated[
        str, typer.Option(help="What to train for, to watch and to report: ndcg@10, map, mrr, err@20, p@5, ...")
    ] = "ndcg@10",
    param: Params = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Learn to order the documents of queries, and save the ranker."""
    from rankwise.cli import console
    from rankwise.cli.files import check_writable
    from rankwise.persistence import save

    check_writable(out, file, *([valid] if valid else []))
    params = settings(param)
    ranker = _ranker(model, metric, params, seed, jobs)
    with console.progress() as on_step:
        on_step("reading", 0.0)
        parts = _parts(file, valid, ranker, zero_based)
        on_step("training", 0.2)
        started = time.perf_counter()
        _fit(ranker, parts)
        seconds = time.perf_counter() - started
        on_step("scoring", 0.95)
        result = _result(ranker, parts, seconds)
    save(ranker, out)
    if as_json:
        console.print_json({**result, "out": str(out)})
    else:
        console.print_tables(_tables(result))
        console.print_lines([f"Ranker: {out}"])


def _ranker(model: Model, metric: str, parameters: dict[str, Any], seed: int, jobs: int) -> Any:
    from rankwise import ltr
    from rankwise.cli.learn import set_parameters
    from rankwise.cli.retrieval import check_metric
    from rankwise.ltr.base import METRICS

    classes = {Model.LAMBDAMART: ltr.LambdaMART, Model.LINEAR: ltr.LinearRanker, Model.NEURAL: ltr.NeuralRanker}
    ranker: Any = classes[model]()
    scorer = check_metric(metric)
    name = next(name for name in METRICS if check_metric(name).function is scorer.function)
    given = {"metric": name, "k": scorer.options.get("k"), "random_state": seed, "n_jobs": jobs}
    ranker.set_params(**{parameter: value for parameter, value in given.items() if parameter in ranker.get_params()})
    set_parameters(ranker, parameters, hidden=list(given))
    return ranker


def _parts(file: str, valid: str | None, ranker: Any, zero_based: bool) -> dict[str, Documents]:
    """Training documents, and those to watch and to test on, where there are some."""
    from rankwise.cli.documents import is_collection, read_collection, read_documents, takes_sparse

    if is_collection(file):
        if valid or zero_based:
            raise typer.BadParameter("--valid and --zero-based are for files; a folder has its own parts")
        parts = read_collection(file)
        if "training" not in parts:
            raise ValueError(f"{file} has no train part; name one of its files train.txt, or give the file itself")
        return parts
    if valid is not None and is_collection(valid):
        raise typer.BadParameter(f"{valid} is a collection with parts; give one file of it", param_hint="--valid")
    files = {"training": file, **({"validation": valid} if valid else {})}
    parts = {
        part: read_documents(name, zero_based=zero_based, sparse=takes_sparse(ranker)) for part, name in files.items()
    }
    width = max(documents.X.shape[1] for documents in parts.values())
    return {part: documents.widened(width) for part, documents in parts.items()}


def _fit(ranker: Any, parts: dict[str, Documents]) -> None:
    training, validation = parts["training"], parts.get("validation")
    watched = {}
    if validation is not None and "early_stopping" in ranker.get_params():
        watched["eval_set"] = (validation.X, validation.y, validation.qid)
        ranker.set_params(early_stopping=True)
    ranker.fit(training.X, training.y, qid=training.qid, **watched)


def _result(ranker: Any, parts: dict[str, Documents], seconds: float) -> dict[str, Any]:
    from rankwise.cli.retrieval import none_if_nan

    metric = ranker.metric if ranker.k is None else f"{ranker.metric}@{ranker.k}"
    scores = [
        {
            "part": part,
            "n_queries": documents.n_queries,
            "n_documents": len(documents.y),
            "score": none_if_nan(ranker.score(documents.X, documents.y, qid=documents.qid)),
        }
        for part, documents in parts.items()
    ]
    return {
        "model": type(ranker).__name__,
        "n_features": ranker.n_features_in_,
        "n_trees": getattr(ranker, "n_estimators_", None),
        "seconds": seconds,
        "metric": metric,
        "gain": ranker.score_gain if ranker.metric in ("ndcg", "dcg") else None,
        "parts": scores,
    }


def _tables(result: dict[str, Any]) -> list[TextTable]:
    from rankwise.cli.console import TextTable, counted
    from rankwise.cli.retrieval import gain_in_words, shown

    trees = f" of {counted(result['n_trees'], 'tree')}" if result["n_trees"] is not None else ""
    features = counted(result["n_features"], "feature")
    title = f"{result['model']}{trees} on {features}, trained in {result['seconds']:.1f} s"
    note = f"mean {result['metric']} over queries"
    if result["gain"] is not None:
        note += f", with the {gain_in_words(result['gain'])}"
    rows = [
        [part["part"], f"{part['n_queries']:,}", f"{part['n_documents']:,}", shown(part["score"])]
        for part in result["parts"]
    ]
    return [TextTable(title, note, ["part", "queries", "documents", result["metric"]], rows)]
