"""LETOR files (SVMlight with queries): ``grade qid:id index:value ... # comment``, one document per line."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from rankwise._typing import ArrayLike
from rankwise.data.formats.ids import StrArray, as_texts, check_ids, refuse_long_id
from rankwise.data.formats.text import (
    Path,
    is_writable,
    numbered_lines,
    parse_integer,
    parse_number,
    read_text,
    shown,
    write_text,
)
from rankwise.exceptions import RankwiseFormatError

QueryIds: TypeAlias = npt.NDArray[np.int64] | StrArray

# A dense matrix is refused beyond 2 GiB; and beyond 128 MiB if fewer than one cell in a thousand is in the file,
# so that one large index cannot claim memory that the data do not fill.
_MOST_CELLS = 1 << 28
_SMALL_CELLS = 1 << 24
_MOST_CELLS_PER_ENTRY = 1000
# SciPy keeps column numbers of ordinary sparse matrices in 32 bits.
_LARGEST_INDEX = 2**31 - 2


def read_letor(
    path: Path,
    *,
    n_features: int | None = None,
    sparse: bool = False,
    zero_based: bool = False,
    return_comments: bool = False,
) -> tuple[Any, ...]:
    """Read a learning-to-rank file in LETOR (SVMlight) format, plain or gzip.

    Parameters
    ----------
    path : str or path-like
        Lines ``grade qid:id index:value ... # comment``. Blank lines and lines of comment alone are skipped.
    n_features : int, optional
        Number of columns of ``X``; by default as many as the largest index needs. Give it when several files
        (training and test) must agree.
    sparse : bool, default=False
        Whether ``X`` is a SciPy CSR matrix. Features that a line omits are 0 either way.
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
        is refused, since a feature that is not known is omitted here.

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
    >>> X, y, qid = read_letor(path)
    >>> X
    array([[0.5, 2. ],
           [0. , 1. ]])
    """
    if n_features is not None and n_features < 0:
        raise ValueError(f"n_features is {n_features}, but must not be negative")
    table = _Table(keep_comments=return_comments)
    _parse_lines(table, numbered_lines(read_text(path)), path, 0 if zero_based else 1, n_features)
    if not table.lines:
        raise RankwiseFormatError("the file holds no documents", path=path, cure="Is it cut off? Download it again.")
    X = _feature_matrix(table, n_features, sparse, path)
    y = np.array(table.grades)
    qid = _query_ids(table, path) if table.qids else None
    return (X, y, qid, table.comments) if return_comments else (X, y, qid)


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
    features, a sparse one with its stored entries; in that case give ``n_features`` when reading, or empty last
    columns are lost.

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
        queries = check_ids(_column(qid, "qid", len(rows)), name="qid", forbidden="#")
        for line, query in zip(fields, queries, strict=True):
            line.append(f"qid:{query}")
    for line, entries in zip(fields, rows, strict=True):
        line += entries
    if comments is not None:
        texts = as_texts(_column(comments, "comments", len(rows)))
        for row, (line, comment) in enumerate(zip(fields, texts, strict=True)):
            if not is_writable(comment):
                raise ValueError(f"comments[{row}] is {shown(comment)}; a comment is one line of text")
            if comment:
                line.append(f"# {comment}")
    write_text(path, "\n".join(map(" ".join, fields)) + "\n")


@dataclass
class _Table:
    """Everything in the file: one entry per document, with its query by number; the features of all in two columns."""

    keep_comments: bool
    lines: array[int] = field(default_factory=lambda: array("q"))
    grades: array[float] = field(default_factory=lambda: array("d"))
    qids: array[int] = field(default_factory=lambda: array("q"))
    code_of_qid: dict[str, int] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    ends: array[int] = field(default_factory=lambda: array("q"))
    columns: array[int] = field(default_factory=lambda: array("i"))
    values: array[float] = field(default_factory=lambda: array("d"))


def _parse_lines(
    table: _Table, lines: Iterable[tuple[int, str]], path: Path, base: int, n_features: int | None
) -> None:
    largest = _LARGEST_INDEX if n_features is None else min(n_features - 1 + base, _LARGEST_INDEX)
    for number, line in lines:
        content, _, comment = line.partition("#")
        tokens = content.split()
        if not tokens:
            continue
        has_qid = len(tokens) > 1 and tokens[1].startswith("qid:")
        if table.lines and has_qid != bool(table.qids):
            this, other = ("a", "none") if has_qid else ("no", "one")
            raise RankwiseFormatError(
                f"this line has {this} qid, but line {table.lines[0]} has {other}",
                path=path,
                line=number,
                column=2,
                cure="Write qid:id after the grade on every line, or on none.",
            )
        pairs = [token.partition(":") for token in tokens[1 + has_qid :]]
        try:
            grade = parse_number(tokens[0])
            columns = [int(index) - base for index, _, _ in pairs]
            values = [float(value) for _, _, value in pairs]
            sound = _is_sound(columns, values, "".join(tokens[1 + has_qid :]), largest - base)
        except ValueError:
            sound = False
        if not sound or (has_qid and tokens[1] == "qid:"):
            _refuse_table(tokens, path, number)
            _check_tokens(tokens, has_qid, base, largest, path, number)
        if has_qid:
            table.qids.append(table.code_of_qid.setdefault(tokens[1][4:], len(table.code_of_qid)))
        table.lines.append(number)
        table.grades.append(grade)
        if table.keep_comments:
            table.comments.append(comment.strip())
        table.columns.extend(columns)
        table.values.extend(values)
        table.ends.append(len(table.columns))


def _is_sound(columns: list[int], values: list[float], text: str, largest: int) -> bool:
    """Whether the entries of a line are beyond doubt, by tests that are quick for a whole line at once.

    Python's numbers allow more than ours (underscores, other scripts' digits, nan). A sum that overflows raises a
    false alarm, which `_check_tokens` then clears.
    """
    return not columns or (
        math.isfinite(sum(values))
        and min(columns) >= 0
        and max(columns) <= largest
        and len(set(columns)) == len(columns)
        and text.isascii()
        and "_" not in text
    )


def _refuse_table(tokens: list[str], path: Path, line: int) -> None:
    """Tell a table of columns, with commas or tabs between them, from a bad line."""
    if ":" not in "".join(tokens) and len(tokens[0].split(",")) + len(tokens) > 2:
        raise RankwiseFormatError(
            "this is a table of columns, as CatBoost reads, and not LETOR (SVMlight)",
            path=path,
            line=line,
            cure="Write each line as 'grade qid:QUERY 1:VALUE 2:VALUE'; scikit-learn's dump_svmlight_file does that.",
        )


def _check_tokens(tokens: list[str], has_qid: bool, base: int, largest: int, path: Path, line: int) -> None:
    """Find the token at fault and say what is wrong with it."""

    def fail(problem: str, cure: str, column: int) -> NoReturn:
        raise RankwiseFormatError(problem, path=path, line=line, column=column, cure=cure) from None

    try:
        parse_number(tokens[0])
    except ValueError:
        fail(f"the grade {shown(tokens[0])} is not a finite number", "Lines start with the grade.", 1)
    if has_qid and tokens[1] == "qid:":
        fail("the query id is empty", "Write qid:1 without a blank.", 2)
    seen = set()
    for column, token in enumerate(tokens[1 + has_qid :], 2 + has_qid):
        name, _, value = token.partition(":")
        if name == "qid":
            fail("qid stands in the wrong place", "Put it second, after the grade.", column)
        try:
            index = parse_integer(name)
            parse_number(value)
        except ValueError:
            cure = "Write 3:0.5 for feature 3; omit what is not known."
            fail(f"{shown(token)} is not index:value with a finite value", cure, column)
        if index < base:
            cure = "Read the file with zero_based=True if its indices count from 0." if index == 0 else "Correct it."
            fail(f"feature index {index} is below {base}", cure, column)
        if index > largest:
            cure = "Give a larger n_features." if largest < _LARGEST_INDEX else "Renumber the features."
            fail(f"feature index {index} is above {largest}", cure, column)
        if index in seen:
            fail(f"feature {index} comes twice in the line", "Keep one of the two.", column)
        seen.add(index)


def _feature_matrix(table: _Table, n_features: int | None, sparse: bool, path: Path) -> Any:
    columns, values = np.frombuffer(table.columns, dtype=np.int32), np.frombuffer(table.values, dtype=np.float64)
    n_rows = len(table.lines)
    width = n_features if n_features is not None else int(columns.max(initial=-1)) + 1
    if sparse:
        from scipy.sparse import csr_matrix

        matrix = csr_matrix((values, columns, np.append(0, table.ends)), shape=(n_rows, width))
        matrix.sort_indices()
        return matrix
    most = _MOST_CELLS if n_features is not None else max(_SMALL_CELLS, _MOST_CELLS_PER_ENTRY * len(values))
    if n_rows * width > min(most, _MOST_CELLS):
        raise RankwiseFormatError(
            f"a dense matrix of {n_rows:,} rows and {width:,} features is too large for {len(values):,} entries",
            path=path,
            line=table.lines[int(np.searchsorted(table.ends, np.argmax(columns), side="right"))] if width else None,
            cure="Read it with sparse=True.",
        )
    X = np.zeros((n_rows, width))
    X[np.repeat(np.arange(n_rows), np.diff(table.ends, prepend=0)), columns] = values
    return X


def _query_ids(table: _Table, path: Path) -> QueryIds:
    """Integers only where no two ids would become one: 7 and 07 stay text."""
    codes, ids = np.frombuffer(table.qids, dtype=np.int64), list(table.code_of_qid)
    longest = max(ids, key=len)
    refuse_long_id(longest, table.lines[table.qids.index(table.code_of_qid[longest])], path)
    try:
        numbers = [parse_integer(text) for text in ids]
    except ValueError:
        return np.array(ids)[codes]
    return np.array(numbers, dtype=np.int64)[codes] if list(map(str, numbers)) == ids else np.array(ids)[codes]


def _column(values: Any, name: str, n_rows: int) -> npt.NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (n_rows,):
        raise ValueError(f"{name} has shape {column.shape}, but X has {n_rows} rows; give one entry for each")
    return column


def _entries_of_rows(X: Any, base: int) -> list[list[str]]:
    """``index:value`` of every row: all of a dense matrix, what is stored of a sparse one."""
    if hasattr(X, "tocsr"):
        matrix = X.tocsr()
        columns, values, ends = matrix.indices, matrix.data.astype(np.float64), matrix.indptr[1:]
    else:
        matrix = np.asarray(X, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"X has {matrix.ndim} dimension(s), but needs two: one row per document")
        n_rows, width = matrix.shape
        columns, values, ends = np.tile(np.arange(width), n_rows), matrix.ravel(), width * np.arange(1, n_rows + 1)
    if matrix.shape[0] == 0:
        raise ValueError("X has no rows, and an empty file would not say how many features there are")
    finite = np.isfinite(values)
    if not finite.all():
        first = int(np.argmin(finite))
        row = int(np.searchsorted(ends, first, side="right"))
        raise ValueError(f"X[{row}, {columns[first]}] is {values[first]}; fill in or drop what is not finite")
    pairs = zip((columns + base).tolist(), values.tolist(), strict=True)
    texts = [f"{index}:{_number_text(value)}" for index, value in pairs]
    return [texts[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


def _number_text(value: float) -> str:
    """The shortest text that reads back as the same float64."""
    return repr(value).removesuffix(".0")
