"""LETOR files (SVMlight with queries): ``grade qid:id index:value ... # comment``, one document a line."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from rankwise._typing import ArrayLike, FloatArray
from rankwise.data.formats.fields import StrArray, check_ids, id_array, is_writable, parse_number, shown
from rankwise.data.formats.lines import Path, read_lines, write_text
from rankwise.exceptions import RankwiseFormatError

QueryIds: TypeAlias = npt.NDArray[np.int64] | StrArray

# A dense matrix is refused beyond 2 GiB; and beyond 128 MiB if fewer than one cell in a thousand is in the file,
# so that one large index cannot claim memory that the data do not fill.
_MOST_CELLS = 1 << 28
_SMALL_CELLS = 1 << 24
_MOST_CELLS_PER_ENTRY = 1000
# SciPy keeps column numbers of ordinary sparse matrices in 32 bits.
_LARGEST_INDEX = 2**31 - 2


class LetorData(NamedTuple):
    """What `read_letor` returns: features, grades and queries, one row per document."""

    X: Any
    y: FloatArray
    qid: QueryIds | None


class CommentedLetorData(NamedTuple):
    """What `read_letor` returns with ``return_comments=True``."""

    X: Any
    y: FloatArray
    qid: QueryIds | None
    comments: list[str]


@overload
def read_letor(
    path: Path,
    *,
    n_features: int | None = ...,
    sparse: bool = ...,
    zero_based: bool = ...,
    return_comments: Literal[False] = ...,
) -> LetorData: ...


@overload
def read_letor(
    path: Path, *, n_features: int | None = ..., sparse: bool = ..., zero_based: bool = ..., return_comments: Literal[True]
) -> CommentedLetorData: ...


def read_letor(
    path: Path,
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: bool = False,
    return_comments: bool = False,
) -> LetorData | CommentedLetorData:
    """Read a learning-to-rank file in LETOR (SVMlight) format, plain or gzip.

    Parameters
    ----------
    path : str or path-like
        Lines ``grade qid:id index:value ... # comment``. Blank lines and lines of comment alone are skipped.
    n_features : int, optional
        Number of columns of ``X``; by default as many as the largest index needs. Give it when several files
        (training and test) must agree.
    sparse : bool, default=False
        Whether ``X`` is a SciPy CSR matrix. Features that a line leaves away are 0 either way.
    zero_based : bool, default=False
        Whether indices count from 0; LETOR counts from 1.
    return_comments : bool, default=False
        Whether to return the comments too, where many collections keep document ids.

    Returns
    -------
    X : ndarray or csr_matrix of shape (n_documents, n_features), float64
        Rows in the order of the file.
    y : ndarray of shape (n_documents,), float64
        Grades: higher is more relevant.
    qid : ndarray of shape (n_documents,) or None
        Query of each row: int64 if every id is written as a plain integer, else text. Queries need be neither sorted
        nor in one piece. None if no line has a ``qid``.
    comments : list of str
        Text after ``#``, without the blanks around it. Only with ``return_comments=True``.

    Raises
    ------
    RankwiseFormatError
        If a line is malformed; ``column`` is the field of the line, counted from 1. Values must be finite: ``nan``
        is refused, since here a feature that is not known is one that is left away.

    See Also
    --------
    write_letor : The way back.

    References
    ----------
    T. Qin and T.-Y. Liu, "Introducing LETOR 4.0 Datasets", arXiv:1306.2597, 2013.

    Examples
    --------
    >>> from rankwise.data.formats.letor import read_letor, write_letor
    >>> path = getfixture("tmp_path") / "train.txt"
    >>> write_letor(path, [[0.5, 2.0], [0.0, 1.0]], [2, 0], qid=["q7", "q7"])
    >>> read_letor(path).X
    array([[0.5, 2. ],
           [0. , 1. ]])
    """
    table = _parse_lines(read_lines(path), path, 0 if zero_based else 1, n_features)
    if not table.lines:
        raise RankwiseFormatError("the file holds no documents", path=path, cure="Is it cut off? Download it again.")
    X = _feature_matrix(table, n_features, sparse, path)
    y = np.array(table.grades)
    qid = _query_ids(table, path) if table.qids else None
    return CommentedLetorData(X, y, qid, table.comments) if return_comments else LetorData(X, y, qid)


def write_letor(
    path: Path,
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    comments: Sequence[str] | None = None,
    zero_based: bool = False,
) -> None:
    """Write features, grades and queries in LETOR (SVMlight) format.

    Numbers are written in full, so reading the file gives the same bits. A dense ``X`` is written with all its
    features, a sparse one with its stored entries; in that case give ``n_features`` when reading, lest empty last
    columns be lost.

    Parameters
    ----------
    path : str or path-like
        The file; gzip if the name ends in ``.gz``.
    X : array-like or sparse matrix of shape (n_documents, n_features)
        Finite numbers.
    y : array-like of shape (n_documents,)
        Grades: higher is more relevant.
    qid : array-like of shape (n_documents,), optional
        Query of each row: integers, or text without blanks and without ``#``.
    comments : sequence of str, optional
        One text per row, each without line breaks.
    zero_based : bool, default=False
        Whether indices count from 0; LETOR counts from 1.

    See Also
    --------
    read_letor : The way back, with an example.
    """
    rows = _entries_of_rows(X, 0 if zero_based else 1)
    grades = _column(y, "y", len(rows)).astype(np.float64)
    if not np.isfinite(grades).all():
        raise ValueError(f"y[{int(np.argmin(np.isfinite(grades)))}] is not finite; every document needs a grade")
    fields = [[_number_text(grade)] for grade in grades.tolist()]
    if qid is not None:
        for line, query in zip(fields, check_ids(_column(qid, "qid", len(rows)), name="qid", forbidden="#"), strict=True):
            line.append(f"qid:{query}")
    for line, entries in zip(fields, rows, strict=True):
        line += entries
    if comments is not None:
        for row, (line, comment) in enumerate(zip(fields, _column(comments, "comments", len(rows)), strict=True)):
            if not is_writable(comment):
                raise ValueError(f"comments[{row}] is {shown(comment)}; a comment is one line of text")
            if comment:
                line.append(f"# {comment}")
    write_text(path, "\n".join(map(" ".join, fields)) + "\n")


# ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Table:
    """Everything in the file: one entry per document, and the features of all in two flat columns."""

    lines: list[int] = field(default_factory=list)
    grades: list[float] = field(default_factory=list)
    qids: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    columns: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))


def _parse_lines(lines: list[str], path: Path, base: int, n_features: int | None) -> _Table:
    largest = _LARGEST_INDEX if n_features is None else min(n_features - 1 + base, _LARGEST_INDEX)
    table = _Table()
    for number, line in enumerate(lines, 1):
        content, _, comment = line.partition("#")
        tokens = content.split()
        if not tokens:
            continue
        has_qid = len(tokens) > 1 and tokens[1].startswith("qid:")
        if table.lines and has_qid != bool(table.qids):
            _refuse_mixed_queries(table.lines[0], number, has_qid, path)
        try:
            table.grades.append(parse_number(tokens[0]))
            pairs = [token.partition(":") for token in tokens[1 + has_qid :]]
            columns = [int(index) for index, _, _ in pairs]
            values = [float(value) for _, _, value in pairs]
            # Cheap tests of the whole line; which token is at fault is looked up only if one fails.
            plain = content.isascii() and "_" not in content[content.find(":", content.find("qid:") + 4) :]
        except ValueError:
            plain = False
        if not plain or not _is_sound(columns, values, base, largest):
            _refuse_line(tokens, has_qid, base, largest, path, number)
        if has_qid:
            table.qids.append(tokens[1][4:])
        table.lines.append(number)
        table.comments.append(comment.strip())
        table.columns.extend(columns)
        table.values.extend(values)
        table.ends.append(len(table.columns))
    return table
