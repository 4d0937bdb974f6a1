"""``rankwise rank-evaluate``: how good are search results, and which system is better."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli.options import Json, Seed, ZeroBased

if TYPE_CHECKING:
    from rankwise.cli.console import TextTable
    from rankwise.cli.retrieval import Evaluation


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


def rank_evaluate(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="QRELS RUN", help="TREC judgements, and one run or more.")
    ] = None,
    letor: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="In place of TREC files: a LETOR (SVMlight) file, or a folder with test."),
    ] = None,
    scores: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Scores of its documents, one a line; may be repeated.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="A ranker to score its documents; may be repeated.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="ndcg@10, map, mrr, recall@100, p@5, err@10, ...; one or several."),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show every query.")] = False,
    gain: Annotated[Gain, typer.Option(help="What a grade y is worth in NDCG and DCG: y, or 2^y - 1.")] = Gain.LINEAR,
    threshold: Annotated[
        float, typer.Option(help="Grades above it are relevant, where a metric needs a yes or no.")
    ] = 0,
    max_grade: Annotated[
        float | None, typer.Option(help="Highest grade of the scale, for ERR; by default that of the data.")
    ] = None,
    ties: Annotated[
        Ties | None, typer.Option(help="The order of equal scores; default: trec for TREC files, else average.")
    ] = None,
    empty: Annotated[
        Empty | None,
        typer.Option(help="What queries without relevant documents count; default: 0 for TREC files, else skip."),
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Judged queries that a run leaves out count as 0 (trec_eval -c).")
    ] = False,
    seed: Seed = 0,
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Measure search results: TREC runs, or scores of a LETOR file; several are compared by paired tests."""
    from rankwise.cli import console
    from rankwise.cli.retrieval import evaluate, judged_runs, metric_names, scored_documents

    names = metric_names(metric or ["ndcg@10", "map", "mrr"])
    _check_arguments(files, letor, scores, model)
    if letor is None:
        qrels, *runs = files or []
        systems, notes = judged_runs(qrels, runs, complete=complete)
        ties, empty = ties or Ties.TREC, empty or Empty.ZERO
    else:
        systems = scored_documents(letor, scores or [], model or [], zero_based=zero_based)
        notes = []
        ties, empty = ties or Ties.AVERAGE, empty or Empty.SKIP
    result = evaluate(
        systems,
        names,
        gain=gain.value,
        ties=ties.value,
        empty="skip" if empty is Empty.SKIP else int(empty.value),
        threshold=threshold,
        max_grade=max_grade,
        seed=seed,
    )
    result.notes[:0] = notes
    if as_json:
        policy = {"gain": gain.value, "threshold": threshold, "ties": ties.value, "empty": empty.value}
        console.print_json({**result.as_dict(per_query=per_query), "policy": policy})
    else:
        console.print_tables(_tables(result, gain.value, ties.value, per_query))


def _check_arguments(
    files: list[str] | None, letor: str | None, scores: list[str] | None, model: list[str] | None
) -> None:
    if letor is None:
        if scores or model:
            raise typer.BadParameter("--scores and --model score the documents of --letor FILE; give it")
        if len(files or []) < 2:
            raise typer.BadParameter("give QRELS and one RUN or more, or --letor FILE with --scores or --model")
    elif files:
        raise typer.BadParameter(f"--letor has its own judgements; leave {files[0]!r} out, or --letor")
    elif not scores and not model:
        raise typer.BadParameter("--letor has judgements alone; say what to measure with --scores or --model")


def _queries_in_words(result: Evaluation) -> str:
    from rankwise.cli.console import counted

    total, fewest = len(result.queries), min(result.n_judged.values())
    few = f"{fewest:,} of " if fewest == max(result.n_judged.values()) < total else ""
    return f"{few}{counted(total, 'query', 'queries')}"


def _tables(result: Evaluation, gain: str, ties: str, per_query: bool) -> list[TextTable]:
    from rankwise.cli.console import TextTable, counted
    from rankwise.cli.retrieval import gain_in_words, shown

    metrics = list(result.values)
    note = "; ".join([f"{gain_in_words(gain)}, ties: {ties}", *result.notes])
    means = [[system, *(shown(result.mean(metric, system)) for metric in metrics)] for system in result.systems]
    tables = [TextTable(f"Means over {_queries_in_words(result)}", note, ["system", *metrics], means)]
    if per_query:
        rows = [
            [query, system, *(shown(result.values[metric][system][number]) for metric in metrics)]
            for number, query in enumerate(result.queries)
            for system in result.systems
        ]
        tables.append(TextTable("Queries", "", ["query", "system", *metrics], rows))
    for comparison in result.comparisons:
        rows = [
            [
                f"{row['first']} - {row['second']}",
                f"{row['difference']:+.4f}",
                f"{row['low']:+.4f} to {row['high']:+.4f}",
                f"{row['wins']}, {row['losses']}, {row['ties']}",
                f"{row['p_randomization']:.4f}",
            ]
            for row in comparison.rows
        ]
        queries = counted(comparison.n_queries, "query", "queries")
        note = f"paired over {queries}; p by random signs, corrected for the number of pairs"
        columns = ["pair", "difference", "95 % interval", "won, lost, tied", "p"]
        tables.append(TextTable(f"Differences of {comparison.metric}", note, columns, rows))
    return tables
