"""The commands for search results: ``rank-train``, ``rank-predict``, ``rank-evaluate`` and ``rank-explain``.

What they read and score is in `rankwise.cli.systems`.
"""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.options import PICTURES, Jobs, Json, Params, Seed, TableOut, ZeroBased, checked_suffix, settings

if TYPE_CHECKING:
    from rankwise._tables import TextTable
    from rankwise.cli.systems import Documents


# Of fewer queries, none can be spared.
_FEWEST_QUERIES = 10


class Ranker(StrEnum):
    """Rankers of search results."""

    LAMBDAMART = "lambdamart"
    LINEAR = "linear"
    NEURAL = "neural"


class Preset(StrEnum):
    """Settings of boosted trees."""

    DEFAULT = "default"
    LIGHTGBM = "lightgbm"
    BLEND = "blend"


class Gain(StrEnum):
    """What a grade is worth in NDCG."""

    LINEAR = "linear"
    EXP = "exp"


class Ties(StrEnum):
    """The order of documents with the same score."""

    AVERAGE = "average"
    TREC = "trec"
    PESSIMISTIC = "pessimistic"
    RANDOM = "random"


class Empty(StrEnum):
    """What a query without a relevant document counts."""

    SKIP = "skip"
    ZERO = "0"
    ONE = "1"


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
    hold_out: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.9,
            metavar="SHARE",
            help="Without --valid, the share of the queries to watch; 0 is none.",
        ),
    ] = 0.2,
    model: Annotated[
        Ranker, typer.Option(help="Which ranker; neural needs the extra of that name.")
    ] = Ranker.LAMBDAMART,
    preset: Annotated[
        Preset,
        typer.Option(help="Of lambdamart: LightGBM's trees and norms, or a blend with two more rankers."),
    ] = Preset.DEFAULT,
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What to train for, to watch and to report: ndcg@10, map, mrr, err@20, p@5, ..."
        ),
    ] = "ndcg@10",
    param: Params = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the table of scores too: .csv, .xlsx, .json or .md."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Learn to order the documents of queries, and save the ranker. Some queries are held out to judge it by."""
    from rankwise._table_files import save_tables
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable
    from rankwise.persistence import save

    inputs = [file, *([valid] if valid else [])]
    check_writable(out, *inputs)
    check_writable(checked_suffix(table, option="--table"), *inputs)
    if table is not None and table.resolve() == out.resolve():
        raise typer.BadParameter(f"{out} is the ranker; choose another file for the table", param_hint="--table")
    params = settings(param)
    if preset is not Preset.DEFAULT and model is not Ranker.LAMBDAMART:
        raise typer.BadParameter(f"a {model.value} ranker has no presets; drop it", param_hint="--preset")
    ranker = _ranker(model, preset, metric, params, seed, jobs)
    with console.progress() as on_step:
        on_step("reading", 0.0)
        parts = _parts(file, valid, ranker, zero_based)
        note = ""
        if list(parts) == ["training"]:
            parts, note = _held_out(parts["training"], hold_out, seed)
        on_step("training", 0.2)
        started = time.perf_counter()
        _fit(ranker, parts)
        seconds = time.perf_counter() - started
        on_step("scoring", 0.95)
        result = _result(ranker, parts, seconds) | {"note": note}
    save(ranker, out)
    shown, facts = _training_table(result), {**result, "out": str(out)}
    if table is not None:
        save_tables([shown], table, facts=facts)
    if as_json:
        console.print_json(facts)
    else:
        console.print_tables([shown])
        console.print_lines([f"Ranker: {out}"])


def rank_predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A ranker that rank-train saved.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="LETOR (SVMlight) file, - for standard input, or a folder with test.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where to write: .csv, .xlsx, .json or .md with queries and documents, others as on standard output.",
        ),
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Write a TREC run: qid Q0 document rank score tag.")] = False,
    tag: Annotated[str, typer.Option(metavar="NAME", help="Name of the run.")] = "rankwise",
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Score documents: one number per line, in the order of the file, or a TREC run, best documents first."""
    from rankwise._table_files import SUFFIXES, save_tables
    from rankwise._tables import TextTable
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable, shown_name, write_text
    from rankwise.cli.systems import load_ranker, read_documents, scored, takes_sparse
    from rankwise.data.formats.trec import run_text

    check_writable(out, model, file)
    as_table = out is not None and out.suffix.lower() in SUFFIXES
    if as_table:
        checked_suffix(out)  # it asks for what writes workbooks
    elif out is not None and out.suffix.lower() in PICTURES:
        raise typer.BadParameter(f"{out} would be a picture, and scores are text or a table", param_hint="--out")
    if as_table and run:
        raise typer.BadParameter(f"a TREC run is text; {out} is a table, so drop --run, or choose another --out")
    ranker = load_ranker(model)
    documents = read_documents(file, zero_based=zero_based, sparse=takes_sparse(ranker))
    n_features = documents.X.shape[1]
    if n_features < ranker.n_features_in_:
        # The format omits zeros, so this may be right; or the file has other features.
        known = f"the model was trained on {ranker.n_features_in_}"
        console.print_notes([f"{shown_name(file)} names {n_features} features, {known}; the others count as 0"])
    score = scored(ranker, documents)
    wanted = as_json or as_table
    rows = list(zip(documents.qid.tolist(), documents.names, score.tolist(), strict=True)) if wanted else []
    scores = [{"qid": qid, "document": document, "score": value} for qid, document, value in rows]
    facts = {"data": shown_name(file), "model": model, "scores": scores}
    if as_json:
        console.print_json(facts)
        if out is None:
            return
    if out is not None and as_table:
        cells = [[str(qid), str(document), repr(value)] for qid, document, value in rows]
        save_tables([TextTable("Scores", "", ["query", "document", "score"], cells)], out, facts=facts)
    elif run:
        write_text(out, run_text(documents.qid, documents.names, score, tag))
    else:
        write_text(out, "".join(f"{value!r}\n" for value in score.tolist()))


def rank_evaluate(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="QRELS RUN", help="TREC judgments, and one run or more.")
    ] = None,
    letor: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="In place of TREC files: a LETOR (SVMlight) file, or a folder with test."),
    ] = None,
    scores: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Scores of its documents, one per line; may be repeated.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="A ranker to score its documents; may be repeated.")
    ] = None,
    train: Annotated[
        list[Ranker] | None,
        typer.Option(
            metavar="NAME",
            help="A ranker (lambdamart, linear or neural) to train on four fifths of its queries, and to measure on "
            "the others; may be repeated.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", metavar="NAME", help="ndcg@10, map, mrr, recall@100, p@5, err@10, ...; may be repeated."
        ),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show every query, worst first.")] = False,
    worst: Annotated[int | None, typer.Option(min=1, metavar="N", help="Show the N worst queries.")] = None,
    out: TableOut = None,
    gain: Annotated[Gain, typer.Option(help="What a grade y is worth in NDCG and DCG: y, or 2^y - 1.")] = Gain.LINEAR,
    threshold: Annotated[
        float, typer.Option(metavar="GRADE", help="Grades above it are relevant, where a metric needs a yes or no.")
    ] = 0,
    max_grade: Annotated[
        float | None,
        typer.Option(metavar="GRADE", help="Highest grade of the scale, for ERR; by default that of the data."),
    ] = None,
    ties: Annotated[
        Ties | None, typer.Option(help="The order of equal scores; default: trec for TREC files, else average.")
    ] = None,
    empty: Annotated[
        Empty | None,
        typer.Option(help="What queries without relevant documents count; default: 0 for TREC files, else skip."),
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Judged queries missing from a run count as 0 (trec_eval -c).")
    ] = False,
    seed: Seed = 0,
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Measure search results: TREC runs, or scores of a LETOR file; several are compared by paired tests."""
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable, write_tables
    from rankwise.cli.systems import (
        evaluate_run_files,
        evaluate_score_files,
        evaluation_as_dict,
        metric_names,
        read_documents,
    )
    from rankwise.model_selection import evaluate_rankers

    check_writable(out, *(files or []), *(scores or []), *(model or []), *([letor] if letor else []))
    names = metric_names(metric or ["ndcg@10", "map", "mrr"])
    _check_what_is_measured(files or [], letor, [*(scores or []), *(model or [])], train or [])
    ties = ties or (Ties.TREC if letor is None else Ties.AVERAGE)
    empty = empty or (Empty.ZERO if letor is None else Empty.SKIP)
    options: dict[str, Any] = {
        "gain": gain.value,
        "ties": ties.value,
        "empty": "skip" if empty is Empty.SKIP else int(empty.value),
        "threshold": threshold,
        "max_grade": max_grade,
        "random_state": seed,
    }
    if letor is None:
        qrels, *runs = files or []
        result = evaluate_run_files(qrels, runs, names, complete=complete, **options)
    elif train:
        rankers = {each.value: _ranker(each, Preset.DEFAULT, "ndcg@10", {}, seed, 1) for each in dict.fromkeys(train)}
        documents = read_documents(letor, zero_based=zero_based)
        with console.progress() as on_step:
            result = evaluate_rankers(
                rankers, documents.X, documents.y, documents.qid, names, on_step=on_step, **options
            )
    else:
        result = evaluate_score_files(letor, scores or [], model or [], names, zero_based=zero_based, **options)
    policy = {"gain": gain.value, "threshold": threshold, "ties": ties.value, "empty": empty.value}
    facts = {**evaluation_as_dict(result, per_query=per_query), "policy": policy}
    tables = result.tables(per_query=per_query, worst=worst)
    if out is not None:
        write_tables(tables, out, facts)
    if as_json:
        console.print_json(facts)
    else:
        console.print_tables(tables)


def _check_what_is_measured(files: list[str], letor: str | None, scored: list[str], train: list[Ranker]) -> None:
    """Refuse files and options that do not go together."""
    if letor is None:
        if scored or train:
            raise typer.BadParameter("--scores, --model and --train score the documents of --letor FILE; give it")
        if len(files) < 2:
            raise typer.BadParameter(
                "give QRELS and one RUN or more, or --letor FILE with --scores, --model or --train"
            )
    elif files:
        raise typer.BadParameter(f"--letor has its own judgments; drop {files[0]!r}, or --letor")
    elif train and scored:
        raise typer.BadParameter("--train measures on some of the queries; drop --scores and --model, or --train")
    elif not scored and not train:
        raise typer.BadParameter("--letor only has judgments; say what to measure with --scores, --model or --train")


def rank_explain(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A ranker that rank-train saved.")],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="LETOR (SVMlight) file with the documents of --query.")
    ] = None,
    query: Annotated[str | None, typer.Option(metavar="QID", help="A query of FILE.")] = None,
    above: Annotated[
        str | None, typer.Option(metavar="DOC", help="A document of the query; default: the first one.")
    ] = None,
    below: Annotated[
        str | None, typer.Option(metavar="DOC", help="A document to compare it with; default: the second one.")
    ] = None,
    names: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Names of the features, one per line; LETOR files have none.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Show the N features that matter most.")] = 10,
    out: TableOut = None,
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Say which features matter to a ranker, and why it puts one document of a query above another."""
    from rankwise._table_files import save_tables
    from rankwise.cli import console
    from rankwise.cli.in_and_out import check_writable
    from rankwise.cli.systems import explanation, importances, load_ranker, read_documents, takes_sparse

    check_writable(out, model, *([file] if file else []))
    if (file is None) != (query is None):
        raise typer.BadParameter("a pair of documents needs both FILE and --query QID")
    ranker = load_ranker(model)
    if not hasattr(ranker, "explain"):
        raise ValueError(f"a {type(ranker).__name__} cannot say which features matter; train lambdamart or linear")
    features = _feature_names(ranker, names, 0 if zero_based else 1)
    found = importances(ranker, features)
    if file is not None:
        documents = read_documents(file, zero_based=zero_based, sparse=takes_sparse(ranker))
        found = explanation(ranker, documents, features, str(query), above, below)
    table, facts = found.table(top), found.as_dict()
    if out is not None:
        save_tables([table], out, facts=facts)
    if as_json:
        console.print_json(facts)
    else:
        console.print_tables([table])


def _feature_names(ranker: Any, file: Path | None, first: int) -> list[str]:
    n_features = ranker.n_features_in_
    if file is None:
        known = getattr(ranker, "feature_names_in_", None)
        return [f"feature {first + i}" for i in range(n_features)] if known is None else list(map(str, known))
    names = file.read_text("utf-8").splitlines()
    if len(names) != n_features:
        raise ValueError(f"{file} has {len(names):,} lines, but the ranker has {n_features:,} features; name each")
    return names


def _ranker(model: Ranker, preset: Preset, metric: str, parameters: dict[str, Any], seed: int, jobs: int) -> Any:
    from rankwise import ltr
    from rankwise.cli.learn_commands import set_parameters
    from rankwise.cli.systems import check_metric
    from rankwise.ltr.base import METRICS

    classes = {Ranker.LAMBDAMART: ltr.LambdaMART, Ranker.LINEAR: ltr.LinearRanker, Ranker.NEURAL: ltr.NeuralRanker}
    ranker: Any = ltr.StackedQueryRanker() if preset is Preset.BLEND else classes[model]()
    if preset is Preset.LIGHTGBM:
        ranker.set_params(tree="leaf")
    scorer = check_metric(metric)
    name = next(name for name in METRICS if check_metric(name).function is scorer.function)
    given = {"metric": name, "k": scorer.options.get("k"), "random_state": seed, "n_jobs": jobs}
    ranker.set_params(**{parameter: value for parameter, value in given.items() if parameter in ranker.get_params()})
    set_parameters(ranker, parameters, hidden=list(given))
    return ranker


def _parts(file: str, valid: str | None, ranker: Any, zero_based: bool) -> dict[str, Documents]:
    """Training documents, and those to watch and to test on, where there are some."""
    from rankwise.cli.systems import is_collection, read_collection, read_documents, takes_sparse

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


def _held_out(documents: Documents, share: float, seed: int) -> tuple[dict[str, Documents], str]:
    """Queries to train on and queries to watch, and what to say about that."""
    from sklearn.model_selection import GroupShuffleSplit

    alone = "the score on queries that were trained on says nothing about other queries; watch some with --valid FILE"
    if share == 0:
        return {"training": documents}, alone
    if documents.n_queries < _FEWEST_QUERIES:
        too_few = f"fewer than {_FEWEST_QUERIES} queries are too few to hold some out"
        return {"training": documents}, f"{too_few}, and {alone}"
    splitter = GroupShuffleSplit(1, test_size=share, random_state=seed)
    training, held_out = next(splitter.split(documents.y, groups=documents.qid))
    parts = {"training": documents.part(training), "held out": documents.part(held_out)}
    return parts, (
        f"{share:.0%} of the queries were held out at random to stop training in time, and to judge it; "
        "--valid FILE watches others, --hold-out 0 trains on all"
    )


def _fit(ranker: Any, parts: dict[str, Documents]) -> None:
    training, validation = parts["training"], parts.get("validation", parts.get("held out"))
    watched = {}
    if validation is not None and "early_stopping" in ranker.get_params():
        watched["eval_set"] = (validation.X, validation.y, validation.qid)
        ranker.set_params(early_stopping=True)
    ranker.fit(training.X, training.y, qid=training.qid, **watched)


def _result(ranker: Any, parts: dict[str, Documents], seconds: float) -> dict[str, Any]:
    from rankwise.cli.systems import none_if_nan

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


def _training_table(result: dict[str, Any]) -> TextTable:
    from rankwise._tables import TextTable, counted
    from rankwise.cli.systems import gain_in_words, shown

    trees = f" of {counted(result['n_trees'], 'tree')}" if result["n_trees"] is not None else ""
    features = counted(result["n_features"], "feature")
    title = f"{result['model']}{trees} on {features}, trained in {result['seconds']:.1f} s"
    note = f"mean {result['metric']} over queries"
    if result["gain"] is not None:
        note += f", with the {gain_in_words(result['gain'])}"
    note = "; ".join(filter(None, [note, result["note"]]))
    rows = [
        [part["part"], f"{part['n_queries']:,}", f"{part['n_documents']:,}", shown(part["score"])]
        for part in result["parts"]
    ]
    return TextTable(title, note, ["part", "queries", "documents", result["metric"]], rows)
