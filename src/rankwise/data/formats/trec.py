"""TREC files: judgments (qrels) and runs of retrieval systems, and the two joined for the metrics.

A line of qrels is ``qid iteration doc_id relevance``; a line of a run is ``qid Q0 doc_id rank score tag``.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import compress
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankwise._typing import ArrayLike, FloatArray
from rankwise.data.formats.ids import IdColumn, StrArray, as_texts, check_ids
from rankwise.data.formats.text import Path, numbered_lines, parse_integer, parse_number, read_text, shown, write_text
from rankwise.exceptions import RankwiseFormatError


class Qrels(NamedTuple):
    """Relevance judgments, one row per judged document; higher relevance is better."""

    qid: StrArray
    doc_id: StrArray
    relevance: npt.NDArray[np.int64]


class Run(NamedTuple):
    """Documents that a system retrieved, one per row; higher scores come first."""

    qid: StrArray
    doc_id: StrArray
    score: FloatArray
    tag: StrArray


class JudgedRun(NamedTuple):
    """A run joined with its judgments: the flat arrays that retrieval metrics take."""

    y_true: npt.NDArray[np.int64]
    y_score: FloatArray
    qid: StrArray
    doc_id: StrArray


def read_qrels(path: Path) -> Qrels:
    r"""Read relevance judgments in TREC format, plain or gzip.

    Parameters
    ----------
    path : str or path-like
        Lines ``qid iteration doc_id relevance``; the iteration is not used. Blank lines are skipped.

    Returns
    -------
    Qrels
        ``qid``, ``doc_id`` (text) and ``relevance`` (integers, which may be negative), in the order of the file.

    Raises
    ------
    RankwiseFormatError
        If a line does not have four fields, a relevance is not an integer, or a document is judged twice for a query.

    Examples
    --------
    >>> from rankwise.data.formats.trec import read_qrels
    >>> path = getfixture("tmp_path") / "qrels.txt"
    >>> _ = path.write_text("301 0 FBIS3-10082 1\n301 0 FBIS3-10169 0\n")
    >>> read_qrels(path).relevance
    array([1, 0])
    """
    value = _Value(3, "q", parse_integer, "relevance", "an integer", "Round or number it.")
    (qid, doc_id), relevance = _read_columns(path, "qid iteration doc_id relevance", (0, 2), value)
    return Qrels(qid, doc_id, np.array(relevance, dtype=np.int64))


def read_run(path: Path) -> Run:
    """Read the run of a retrieval system in TREC format, plain or gzip.

    Parameters
    ----------
    path : str or path-like
        Lines ``qid Q0 doc_id rank score tag``. The rank is not used: as in trec_eval, the scores alone order the
        documents. Blank lines are skipped.

    Returns
    -------
    Run
        ``qid``, ``doc_id`` (text), ``score`` (higher is better) and ``tag`` (text), in the order of the file.

    Raises
    ------
    RankwiseFormatError
        If a line does not have six fields, a score is not a finite number, or a query retrieves a document twice.

    See Also
    --------
    write_run : The way back, with an example.
    """
    value = _Value(4, "d", parse_number, "score", "a finite number", "Drop documents that were not scored.")
    (qid, doc_id, tag), score = _read_columns(path, "qid Q0 doc_id rank score tag", (0, 2, 5), value)
    return Run(qid, doc_id, np.array(score), tag)


def write_run(path: Path, qid: ArrayLike, doc_id: ArrayLike, score: ArrayLike, tag: str = "rankwise") -> None:
    """Write a run in TREC format.

    Queries come in order of first appearance. Within a query documents are ranked from 1 by decreasing score, equal
    scores by decreasing ``doc_id``, as trec_eval ranks them. Scores are written in full.

    Parameters
    ----------
    path : str or path-like
        The file; gzip if the name ends in ``.gz``.
    qid, doc_id : array-like of shape (n_documents,)
        Query and document of each row: numbers, or text without blanks.
    score : array-like of shape (n_documents,)
        Higher is better; finite.
    tag : str, default="rankwise"
        Name of the run, without blanks.

    Examples
    --------
    >>> from rankwise.data.formats.trec import write_run
    >>> path = getfixture("tmp_path") / "run.txt"
    >>> write_run(path, [301, 301], ["FT911-3", "FT922-1"], [0.25, 1.5])
    >>> print(path.read_text(), end="")
    301 Q0 FT922-1 1 1.5 rankwise
    301 Q0 FT911-3 2 0.25 rankwise
    """
    write_text(path, run_text(qid, doc_id, score, tag))


def run_text(qid: ArrayLike, doc_id: ArrayLike, score: ArrayLike, tag: str = "rankwise") -> str:
    """The text that `write_run` writes."""
    qids, doc_ids = check_ids(qid, name="qid"), check_ids(doc_id, name="doc_id")
    (tag,) = check_ids([tag], name="tag")
    scores = np.asarray(score, dtype=np.float64)
    if not _pair_keys(qids, doc_ids, scores, "the run"):
        raise ValueError("the run has no documents, and a file without lines could not be read")
    place_of_query = {query: place for place, query in enumerate(dict.fromkeys(qids))}
    rows = zip((place_of_query[query] for query in qids), (-scores).tolist(), doc_ids, qids, strict=True)
    # Two stable sorts, since text cannot be negated.
    ordered = sorted(sorted(rows, key=itemgetter(2), reverse=True), key=itemgetter(0, 1))
    ranks: Counter[str] = Counter()
    lines = []
    for _, negated, document, query in ordered:
        ranks[query] += 1
        lines.append(f"{query} Q0 {document} {ranks[query]} {-negated!r} {tag}\n")
    return "".join(lines)


def judged_run(qrels: Qrels, run: Run, *, complete: bool = False) -> JudgedRun:
    """Join a run with its judgments, as flat arrays for the retrieval metrics.

    Retrieved documents come first, in the order of the run; those without a judgment have relevance 0. Then come
    the judged documents that the run did not retrieve, with score ``-inf``: they have no place in the ranking but
    count in ideal gains and in the number of relevant documents. Queries of the run without any judgment are left
    out. Negative relevance counts as 0, as in trec_eval.

    Parameters
    ----------
    qrels : Qrels
        Judgments, as `read_qrels` returns them.
    run : Run
        Retrieved documents, as `read_run` returns them.
    complete : bool, default=False
        Whether judged queries that the run leaves out are kept (a system that finds nothing scores 0 there, as with
        ``trec_eval -c``) or dropped.

    Returns
    -------
    JudgedRun
        ``y_true``, ``y_score``, ``qid``, ``doc_id``.

    Examples
    --------
    >>> from rankwise.data.formats.trec import Qrels, Run, judged_run
    >>> qrels = Qrels(["q", "q"], ["a", "b"], [2, 1])
    >>> judged_run(qrels, Run(["q", "q"], ["c", "a"], [0.9, 0.3], ["t", "t"])).y_score
    array([ 0.9,  0.3, -inf])
    """
    judged_qid, judged_doc = as_texts(qrels.qid), as_texts(qrels.doc_id)
    run_qid, run_doc = as_texts(run.qid), as_texts(run.doc_id)
    relevance, score = np.asarray(qrels.relevance, dtype=np.int64), np.asarray(run.score, dtype=np.float64)
    row_of = {key: row for row, key in enumerate(_pair_keys(judged_qid, judged_doc, relevance, "qrels"))}
    # Row -1, which is the zero put last, stands for the documents without a judgment.
    rows = np.array([row_of.get(key, -1) for key in _pair_keys(run_qid, run_doc, score, "the run")], dtype=np.intp)
    gains = np.append(np.maximum(relevance, 0), 0)

    judged_queries, run_queries = set(judged_qid), set(run_qid)
    kept = np.array([query in judged_queries for query in run_qid], dtype=bool)
    rest = np.array([complete or query in run_queries for query in judged_qid], dtype=bool)
    rest[rows[rows >= 0]] = False
    if not (kept.any() or rest.any()):
        raise ValueError("the run and the qrels have no query in common; compare the qid of the two")
    return JudgedRun(
        np.concatenate([gains[rows[kept]], gains[:-1][rest]]),
        np.concatenate([score[kept], np.full(int(rest.sum()), -np.inf)]),
        np.array([*compress(run_qid, kept), *compress(judged_qid, rest)]),
        np.array([*compress(run_doc, kept), *compress(judged_doc, rest)]),
    )


class _Value(NamedTuple):
    """The field that holds a number, and what is said of one that does not."""

    field: int
    typecode: str
    parse: Callable[[str], float]
    name: str
    kind: str
    cure: str

    def refusal(self, text: str, path: Path, line: int) -> RankwiseFormatError:
        problem = f"the {self.name} {shown(text)} is not {self.kind}"
        return RankwiseFormatError(problem, path=path, line=line, column=self.field + 1, cure=self.cure)


def _read_columns(
    path: Path, layout: str, ids: Sequence[int], value: _Value
) -> tuple[list[StrArray], array[float] | array[int]]:
    """The fields of all lines that hold ids, and the numbers; every pair of qid and doc_id comes once."""
    n_fields = len(layout.split())
    columns = [IdColumn() for _ in ids]
    values: array[Any] = array(value.typecode)
    lines, keys = array("q"), array("q")
    misfit = unread = None
    for number, line in numbered_lines(read_text(path)):
        fields = line.split()
        if len(fields) != n_fields:
            if not fields:
                continue
            misfit = RankwiseFormatError(
                f"the line has {len(fields)} field{'s' * (len(fields) != 1)}, not {n_fields}",
                path=path,
                line=number,
                cure=f"Write '{layout}', separated by blanks, with no blanks inside a field.",
            )
            break
        lines.append(number)
        keys.append(hash((fields[0], fields[2])))
        for column, field in zip(columns, ids, strict=True):
            column.append(fields[field], number)
        try:
            values.append(value.parse(fields[value.field]))
        except ValueError:
            unread = unread or value.refusal(fields[value.field], path, number)
    found = [column.array() for column in columns]
    _refuse_twins(found[0], found[1], lines, keys, path)
    for error in (misfit, unread):
        if error is not None:
            raise error
    if not lines:
        raise RankwiseFormatError("the file holds no lines", path=path, cure="Is it cut off? Download it again.")
    for column in columns:
        column.refuse_long(path)
    return found, values


def _refuse_twins(qid: StrArray, doc_id: StrArray, lines: array[int], keys: array[int], path: Path) -> None:
    """Refuse a document that a query has on two lines; rows with different keys differ."""
    ordered = np.sort(np.frombuffer(keys, dtype=np.int64))
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(repeated):
        return
    line_of: dict[tuple[str, str], int] = {}
    for row in np.flatnonzero(np.isin(np.frombuffer(keys, dtype=np.int64), repeated)).tolist():
        pair = str(qid[row]), str(doc_id[row])
        first = line_of.setdefault(pair, lines[row])
        if first != lines[row]:
            raise RankwiseFormatError(
                f"document {shown(pair[1])} of query {shown(pair[0])} is on line {first} already",
                path=path,
                line=lines[row],
                column=3,
                cure="Keep one of the two lines.",
            )


def _pair_keys(qids: list[str], doc_ids: list[str], values: npt.NDArray[Any], name: str) -> list[tuple[str, str]]:
    """(qid, doc_id) of every row, each once and each with a finite value."""
    if values.shape != (len(qids),) or len(doc_ids) != len(qids):
        raise ValueError(
            f"{name} has {len(qids)} qid, {len(doc_ids)} doc_id and values of shape {values.shape}; "
            "give one of each per document"
        )
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(f"score[{row}] is {values[row]}; drop documents that were not retrieved")
    keys = list(zip(qids, doc_ids, strict=True))
    if len(set(keys)) < len(keys):
        query, document = next(key for key, uses in Counter(keys).items() if uses > 1)
        raise ValueError(f"{name} has document {document!r} of query {query!r} more than once; keep one")
    return keys
