"""LambdaMART on a Dask cluster: partitions that keep queries whole, and training where the rows lie."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from rankwise._features import FeatureEncoder
from rankwise._optional import require
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_generator
from rankwise.ltr._level_cluster import Part, grow_on_parts
from rankwise.ltr.boosting import LightGBMTrees
from rankwise.ltr.lambdamart import LambdaMART
from rankwise.ltr.level_trees import LevelTrees
from rankwise.ltr.losses import losses_of
from rankwise.ltr.objectives import Objective
from rankwise.queries import QueryRows

AnyArray = np.ndarray[Any, Any]
Ranker = TypeVar("Ranker", bound=LambdaMART)


def align_to_queries(*arrays: Any, qid: Any) -> list[Any]:
    """Rechunk Dask arrays so that no partition ends within a query.

    Parameters
    ----------
    *arrays : dask.array.Array
        Features, relevance and the like, one row after the other as in ``qid``.
    qid : dask.array.Array of shape (n_rows,)
        The query of each row; rows of a query lie together.

    Returns
    -------
    list of dask.array.Array
        The arrays, then ``qid``. Partitions end where a query ends, as close as possible to where those of ``qid`` did.
    """
    require("dask", extra="dask", caller="align_to_queries")
    sizes = whole_query_sizes(qid.compute(), qid.chunks[0])
    return [array.rechunk({0: sizes}) for array in (*arrays, qid)]


def whole_query_sizes(qid: ArrayLike, sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of partitions that end with queries, as close as possible to partitions of the given sizes.

    Parameters
    ----------
    qid : array-like of shape (n_rows,)
        The query of each row; rows of a query lie together.
    sizes : sequence of int
        Rows of each partition, as wanted.

    Returns
    -------
    tuple of int
        Rows of each partition; partitions that would be empty are dropped.

    Examples
    --------
    >>> from rankwise.ltr.dask_training import whole_query_sizes
    >>> whole_query_sizes([7, 7, 7, 7, 8, 8], [3, 3])
    (4, 2)
    """
    labels = np.asarray(qid)
    ends = np.append(np.flatnonzero(labels[1:] != labels[:-1]) + 1, len(labels))  # of queries
    seen = set()
    for name in labels[ends - 1].tolist():
        if name in seen:
            raise ValueError(f"rows of query {name!r} do not lie together; sort rows by query first")
        seen.add(name)
    wanted = np.cumsum(sizes)
    above = np.minimum(np.searchsorted(ends, wanted), len(ends) - 1)
    below = np.maximum(above - 1, 0)
    nearest = np.where(wanted - ends[below] < ends[above] - wanted, ends[below], ends[above])
    return tuple(np.diff(np.unique(np.concatenate([[0], nearest, [len(labels)]]))).tolist())


def fit_on_cluster(
    ranker: Ranker, X: Any, y: Any, qid: Any, sample_weight: Any = None, *, client: Any = None
) -> Ranker:
    """Fit a `LambdaMART` on rows that lie in the partitions of a cluster.

    Rows stay on the workers, which compute the gradients of their own queries and add them up by the bins of features;
    level trees are grown here, on these sums, and trees with ``tree="leaf"`` by LightGBM. Objectives that may need to
    know all rows are refused: the pointwise ones, "query_cross_entropy", "lambdarank" for ERR, which depends on the
    highest grade, and functions.

    Parameters
    ----------
    ranker : LambdaMART
        What to fit. Early stopping, warm start and categories are not for clusters.
    X : dask.array.Array of shape (n_rows, n_features)
        Features, with all columns in one partition; NaN is missing.
    y, qid : dask.array.Array of shape (n_rows,)
        Relevance and queries, cut as X is. A query that is cut is refused; `align_to_queries` helps.
    sample_weight : dask.array.Array of shape (n_rows,), optional
        Positive weights of rows.
    client : distributed.Client, optional
        The cluster; by default the one last connected to.

    Returns
    -------
    LambdaMART
        The ranker, which predicts like any other, without a cluster; its ``history_`` is empty.

    Notes
    -----
    Level trees depend on the partitions, which draw random numbers of their own, but not on the workers; objectives
    that draw none ("query_rmse", say) grow the trees of `LambdaMART.fit`. All values of one feature at a time come here
    to be cut into bins. With LightGBM's trees, each worker cuts a part of the features into bins by its own rows, so
    they depend on how many workers there are and which partitions they hold. Within a partition, the order of rows and
    the names of queries change nothing.
    """
    require("dask", extra="dask", caller="fit_on_cluster")
    require("distributed", extra="dask", caller="fit_on_cluster")
    ranker._validate_params()
    ranker._refuse_what_has_no_effect()
    arrays = [X, y, qid] if sample_weight is None else [X, y, qid, sample_weight]
    _check_cluster_fit(ranker, arrays)
    labels = _queries_of_partitions(qid)
    seed = int(check_generator(ranker.random_state).integers(2**63))
    ranker._encoder = FeatureEncoder()
    ranker._encoder.fit_transform(ranker, np.zeros((1, X.shape[1])))
    grow = _level_trees if ranker.tree == "level" else _lightgbm_trees
    ranker.booster_ = grow(ranker, arrays, labels, seed, client)
    ranker.n_estimators_, ranker.history_ = len(ranker.booster_), {}
    ranker.n_queries_ = sum(map(len, labels))
    return ranker


def _level_trees(ranker: LambdaMART, arrays: list[Any], labels: list[list[Any]], seed: int, client: Any) -> LevelTrees:
    """Level trees; each partition becomes an actor, which stays on a worker with its rows."""
    from distributed import default_client

    client = default_client() if client is None else client
    settings = ranker._settings(seed)
    objective_of = partial(_objective_of, ranker.get_params())
    columns = [client.compute(list(array.to_delayed().ravel())) for array in arrays]
    if len(columns) == 3:
        columns.append([None] * len(labels))
    made = [
        client.submit(Part, *block, number, settings, objective_of, actor=True)
        for number, block in enumerate(zip(*columns, strict=True))
    ]
    parts = [future.result() for future in made]
    del columns  # so that workers forget the rows, of which parts keep codes

    def ask(method: str, *arguments: Any) -> list[Any]:
        asked = [getattr(part, method)(*arguments) for part in parts]
        return [answer.result() for answer in asked]

    return grow_on_parts(ask, arrays[0].shape[1], settings)


def _objective_of(parameters: dict[str, Any], rows: QueryRows) -> Objective:
    return LambdaMART(**parameters)._objective(rows)


def _lightgbm_trees(
    ranker: LambdaMART, arrays: list[Any], labels: list[list[Any]], seed: int, client: Any
) -> LightGBMTrees:
    """Trees that LightGBM grows on all workers together."""
    import dask.array as da
    from dask.delayed import delayed
    from lightgbm.dask import DaskLGBMRanker

    X = arrays[0]
    prepare = delayed(_prepared_part, nout=4)
    blocks = zip(*(array.to_delayed().ravel() for array in arrays), strict=True)
    columns = zip(*(prepare(*block, seed=seed) for block in blocks), strict=True)
    lengths = [X.chunks[0]] * 3 + [tuple(map(len, labels))]
    features, grade, weight, group = (
        da.concatenate(
            [
                da.from_delayed(block, (length, X.shape[1]) if number == 0 else (length,), dtype=np.float64)
                for block, length in zip(column, lengths[number], strict=True)
            ]
        )
        for number, column in enumerate(columns)
    )
    settings = ranker._settings(seed).for_lightgbm(X.shape[0])
    del settings["num_threads"]  # workers know how many they have
    model = DaskLGBMRanker(
        objective=_WorkerObjective(ranker, seed),
        n_estimators=ranker.n_estimators,
        client=client,
        verbosity=-1,
        **{_SCIKIT_NAMES.get(name, name): value for name, value in settings.items()},
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameter n_jobs will be ignored")  # nobody gave one
        model.fit(features, grade, sample_weight=weight, group=group)
    return LightGBMTrees(model.booster_)


# What LightGBM calls these parameters in its estimators.
_SCIKIT_NAMES = {
    "min_data_in_leaf": "min_child_samples",
    "lambda_l2": "reg_lambda",
    "bagging_fraction": "subsample",
    "bagging_freq": "subsample_freq",
    "feature_fraction": "colsample_bytree",
    "seed": "random_state",
}


class _WorkerObjective:
    """Gradients of the rows of one worker; the worker's copy sees its queries at the first tree."""

    def __init__(self, ranker: LambdaMART, seed: int) -> None:
        self.parameters, self.seed, self.tree = ranker.get_params(), seed, 0
        self.objective: Objective | None = None

    def __call__(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[FloatArray, FloatArray]:
        if self.objective is None:
            bounds = np.concatenate([[0], np.cumsum(group)]).astype(np.intp)
            # LightGBM forgets weights that are all 1.
            weights = np.ones(len(y_true)) if weight is None else np.array(weight, np.float64)
            rows = QueryRows(np.empty((len(y_true), 0)), np.array(y_true, np.float64), weights, bounds)
            self.objective = _objective_of(self.parameters, rows)
        self.tree += 1
        # The number of rows makes workers draw different numbers.
        return self.objective(np.array(y_pred), np.random.default_rng([self.seed, self.tree, len(y_true)]))


def _prepared_part(
    X: AnyArray, y: AnyArray, qid: AnyArray, sample_weight: AnyArray | None = None, *, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Rows of a partition, sorted by what they hold: features, grades, weights, and sizes of queries."""
    if sample_weight is not None and not np.all(sample_weight > 0):
        raise ValueError("sample_weight holds 0 or less; on a cluster, drop such rows first")
    rows = QueryRows.build(np.asarray(X, np.float64), y, qid, seed=seed, sample_weight=sample_weight)
    return rows.X, rows.grade, rows.weight, np.diff(rows.bounds).astype(np.float64)


def _check_cluster_fit(ranker: LambdaMART, arrays: list[Any]) -> None:
    """Refuse what only works on one machine, and arrays whose partitions differ."""
    for name in ("early_stopping", "warm_start"):
        if getattr(ranker, name):
            raise ValueError(f"{name} is True, but on a cluster must be False")
    is_err = ranker.objective == "lambdarank" and ranker.metric == "err"
    of_all_rows = (*losses_of("LambdaMART", "pointwise"), "query_cross_entropy")
    if is_err or not isinstance(ranker.objective, str) or ranker.objective in of_all_rows:
        raise ValueError(
            f"objective={ranker.objective!r} with metric={ranker.metric!r} depends on the grades of all rows, but a "
            "worker sees its own; choose another metric, 'pairwise_logistic' or 'query_rmse'"
        )
    if ranker.categorical_features is not None:
        raise ValueError("categorical_features are not for clusters; encode them as numbers first")
    for array, name in zip(arrays, ("X", "y", "qid", "sample_weight"), strict=False):
        if not hasattr(array, "chunks"):
            raise TypeError(f"{name} is of type {type(array).__name__}; give a dask.array.Array")
        if array.chunks[0] != arrays[0].chunks[0]:
            raise ValueError(
                f"{name} is cut into partitions of {array.chunks[0]} rows, but X into {arrays[0].chunks[0]}; cut all "
                "the same way with align_to_queries"
            )
    if arrays[0].ndim != 2 or len(arrays[0].chunks[1]) != 1:
        raise ValueError("X must have two dimensions and all its columns in one partition; use X.rechunk({1: -1})")


def _queries_of_partitions(qid: Any) -> list[list[Any]]:
    """The queries of each partition; one that lies in two is refused."""
    labels = np.asarray(qid.compute())
    ends = np.cumsum(qid.chunks[0])[:-1]
    partition_of: dict[Any, int] = {}
    queries = []
    for part, own in enumerate(np.split(labels, ends)):
        queries.append(list(dict.fromkeys(own.tolist())))
        for query in queries[-1]:
            if partition_of.setdefault(query, part) != part:
                raise ValueError(
                    f"query {query!r} has rows in partitions {partition_of[query]} and {part}; workers need whole "
                    "queries: sort rows by query, and cut them with align_to_queries(X, y, qid=qid)"
                )
    return queries
