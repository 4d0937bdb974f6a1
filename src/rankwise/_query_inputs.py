"""What users of query rankers bring: queries as a column, as sizes of groups, and rows to watch beside those to learn.

All query rankers pass the arguments of their ``fit``, ``rank`` and ``score`` through here first, and so do splits and
cross-validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwise._sklearn import num_samples
from rankwise._typing import ArrayLike
from rankwise._validation import data_frame

# A column of this name is taken for queries that somebody forgot.
_NAME_OF_QUERIES = "qid"


class EvalSet(NamedTuple):
    """Rows that training watches."""

    X: Any
    y: Any
    qid: Any
    init_score: Any = None


def split_off_queries(X: Any, qid: Any, group: ArrayLike | None = None) -> tuple[Any, Any]:
    """Features and the query of each row; the queries may be a column of X, or the sizes of groups of its rows."""
    frame = data_frame(X, "X")
    if isinstance(qid, str):
        if frame is None or qid not in frame.columns:
            known = "it is no data frame" if frame is None else f"its columns are {', '.join(frame.columns[:10])}"
            raise ValueError(f"qid is {qid!r}, which should be a column of X, but {known}")
        return frame.drop(qid).to_native(), frame.get_column(qid).to_numpy()
    if group is not None:
        if qid is not None:
            raise ValueError("give qid, the query of each row, or group, the number of rows of each query, not both")
        return X, queries_of_groups(group, len(X) if frame is not None else num_samples(X))
    if frame is not None and _NAME_OF_QUERIES in frame.columns:
        cure = f"give qid={_NAME_OF_QUERIES!r}, or rename the column"
        if qid is None:
            raise ValueError(
                f"X has a column {_NAME_OF_QUERIES!r}, but no qid was given, so it would be a feature, and all rows "
                f"one query; {cure}"
            )
        if np.array_equal(frame.get_column(_NAME_OF_QUERIES).to_numpy(), np.asarray(qid)):
            raise ValueError(f"the column {_NAME_OF_QUERIES!r} of X holds the queries, and would be a feature; {cure}")
    return X, qid


def queries_of_groups(group: ArrayLike, n_rows: int) -> Any:
    """The query of each row, from the number of rows of each query, one after the other as LightGBM has them."""
    sizes = np.asarray(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (len(sizes) and sizes.min() < 0):
        raise ValueError("group must be whole numbers: how many rows each query has, in the order of the rows")
    if sizes.sum() != n_rows:
        raise ValueError(f"group adds up to {sizes.sum()} rows, but X has {n_rows}; give the size of each query")
    return np.repeat(np.arange(len(sizes)), sizes)


def columns_by_name(X: Any, names: Any) -> Any:
    """A data frame with the columns that a ranker was fitted to, in their order; others of it are left out."""
    frame = None if names is None else data_frame(X, "X")
    if frame is None:
        return X
    wanted = [str(name) for name in names]
    if list(frame.columns) == wanted or not set(wanted) <= set(frame.columns):
        return X  # which scikit-learn looks at
    return frame.select(wanted).to_native()


def eval_sets(
    eval_set: Any, eval_qid: Any = None, eval_group: Any = None, eval_init_score: Any = None, *, column: Any = None
) -> list[EvalSet]:
    """The sets of rows to watch: (X, y, qid), or (X, y) with eval_qid or eval_group; one of these, or a list of them.

    ``column`` is where frames have their queries, if those of training had it.
    """
    if eval_set is None:
        named = {"eval_qid": eval_qid, "eval_group": eval_group, "eval_init_score": eval_init_score}
        for name, value in named.items():
            if value is not None:
                raise ValueError(f"{name} is for the rows of eval_set; give eval_set=(X, y)")
        return []
    is_list = isinstance(eval_set, list) and all(isinstance(part, tuple) for part in eval_set)
    parts = list(eval_set) if is_list else [eval_set]
    if not parts:
        raise ValueError("eval_set is empty; give (X, y), or a list of such pairs, or leave it out")
    queries = _one_each(eval_qid, len(parts), "eval_qid", is_list)
    groups = _one_each(eval_group, len(parts), "eval_group", is_list)
    starts = _one_each(eval_init_score, len(parts), "eval_init_score", is_list)
    found = []
    for number, (part, qid, group, start) in enumerate(zip(parts, queries, groups, starts, strict=True)):
        name = f"eval_set[{number}]" if is_list else "eval_set"
        if not isinstance(part, tuple | list) or len(part) not in (2, 3):
            raise ValueError(f"{name} must be two things, X and y, or three: X, y and qid")
        X, y = part[:2]
        given = part[2] if len(part) == 3 else qid
        if len(part) == 3 and qid is not None:
            raise ValueError(f"{name} has a qid of its own; leave eval_qid out")
        if given is None and group is None:
            if column is None:
                raise ValueError(f"{name} has no queries; give eval_qid or eval_group, or (X, y, qid) as the set")
            given = column
        features, qids = split_off_queries(X, given, group)
        found.append(EvalSet(features, y, qids, start))
    return found


def check_starts(init_score: Any, watched: Sequence[EvalSet]) -> None:
    """Refuse scores to start from for the rows of training alone, or for those to watch alone."""
    for part in watched:
        if (init_score is None) != (part.init_score is None):
            there, missing = ("init_score", "eval_init_score")[:: 1 if part.init_score is None else -1]
            raise ValueError(f"{there} is given without {missing}, so scores start from different rankers; give both")


def _one_each(values: Any, n: int, name: str, is_list: bool) -> Sequence[Any]:
    """One value for each set: of a single set the value itself, or a list of one."""
    if values is None:
        return [None] * n
    if not is_list:
        holds_one = isinstance(values, list) and len(values) == 1 and np.ndim(values[0]) == 1
        return values if holds_one else [values]
    if not isinstance(values, list | tuple) or len(values) != n:
        raise ValueError(f"{name} must be a list with one entry for each of the {n} sets of eval_set")
    return values
