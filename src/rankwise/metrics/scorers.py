"""Scorers for scikit-learn's model selection, by name: ``ranking_scorer("ndcg@10")``."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from rankwise._typing import ArrayLike
from rankwise._validation import check_option_names
from rankwise.data import dense_positions
from rankwise.metrics import agreement, retrieval

#: the metrics of graded rows within queries, with the names that other tools give them
_RETRIEVAL: dict[str, Callable[..., Any]] = {
    "ndcg": retrieval.ndcg_score,
    "dcg": retrieval.dcg_score,
    "ap": retrieval.average_precision_score,
    "map": retrieval.average_precision_score,
    "rr": retrieval.reciprocal_rank_score,
    "mrr": retrieval.reciprocal_rank_score,
    "recall": retrieval.recall_score,
    "r": retrieval.recall_score,
    "precision": retrieval.precision_score,
    "p": retrieval.precision_score,
    "err": retrieval.err_score,
    "hit_rate": retrieval.hit_rate_score,
    "success": retrieval.hit_rate_score,
}
#: the metrics of predicted against true rankings of the same items
_AGREEMENT: dict[str, Callable[..., Any]] = {
    "kendall_tau": agreement.kendall_tau_score,
    "tau": agreement.kendall_tau_score,
    "spearman": agreement.spearman_score,
    "exact_match": agreement.exact_match_score,
}


# What a scorer hands over itself, and what would change between folds or not be a number.
_NOT_OPTIONS = {"y_true", "y_score", "y_pred", "qid", "sample_weight", "per_query", "per_row", "doc_id"}


def ranking_scorer(metric: str, **options: Any) -> RankingScorer:
    """Make a scorer for cross_validate, GridSearchCV and the like.

    Parameters
    ----------
    metric : str
        A retrieval metric, with a cut-off if wanted: ``ndcg@10``, ``dcg``, ``map`` (``ap``), ``mrr@10`` (``rr``),
        ``recall@100`` (``r``), ``precision@5`` (``p``), ``err``, ``hit_rate@1`` (``success``); or an agreement of
        rankings: ``kendall_tau`` (``tau``), ``spearman``, ``exact_match``.
    **options
        Further arguments of the metric, e.g. ``gain="exp"``, ``ties="random"``, ``empty=0``.

    Returns
    -------
    RankingScorer
        Called as ``scorer(estimator, X, y)``. A scorer of retrieval metrics also takes ``qid`` and requests it by
        metadata routing, so that ``cross_validate(..., params={"qid": qid})`` brings each fold's query ids to it.

    Examples
    --------
    >>> from rankwise.metrics import ranking_scorer
    >>> ranking_scorer("ndcg@10", gain="exp")
    ranking_scorer('ndcg@10', gain='exp')
    """
    match = re.fullmatch(r"([a-z_]+)(?:@([0-9]{1,9}))?", str(metric).strip().lower())
    name, cutoff = match.groups() if match else ("", None)
    by_query = name in _RETRIEVAL
    function = _RETRIEVAL.get(name) or _AGREEMENT.get(name)
    if function is None:
        known = ", ".join([*(f"{name}@k" for name in _RETRIEVAL), *_AGREEMENT])
        raise ValueError(f"{metric!r} is not a ranking metric; choose one of {known}")
    if cutoff is not None:
        if not by_query:
            raise ValueError(f"{name} takes no cut-off; write {name!r}")
        if int(cutoff) < 1 or "k" in options:
            raise ValueError(f"{metric!r} needs one cut-off of at least 1; write 'ndcg@10', without k=")
        options = {"k": int(cutoff), **options}
    check_option_names(f"a scorer of {metric!r}", options, function, reserved=_NOT_OPTIONS)
    if options.get("ties") == "trec":
        raise ValueError("ties='trec' needs the names of the rows, which scikit-learn does not hand to scorers")
    return RankingScorer(metric, function, options, by_query=by_query)


class RankingScorer:
    """A metric on an estimator's predictions; made by `ranking_scorer`.

    Parameters
    ----------
    name : str
        As the user wrote it.
    function : callable
        The metric.
    options : dict
        Its arguments.
    by_query : bool
        Whether predictions are scores of rows within queries, rather than rankings.
    """

    def __init__(self, name: str, function: Callable[..., Any], options: dict[str, Any], *, by_query: bool) -> None:
        self.name = name
        self.function = function
        self.options = options
        self.by_query = by_query
        self._requests: dict[str, bool | str | None] = {"qid": True} if by_query else {}

    def __call__(
        self,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score the predictions of a fitted estimator; higher is better."""
        predicted = estimator.predict(X)
        options = self.options if sample_weight is None else {**self.options, "sample_weight": sample_weight}
        if not self.by_query:
            # Only the order of predicted places counts, so regressors that predict mean places can be scored too.
            return float(self.function(y, dense_positions(predicted), **options))
        if qid is None:
            warnings.warn(
                f"{self.name} got no qid and takes all rows for one query. In cross-validation, call "
                "sklearn.set_config(enable_metadata_routing=True) and pass params={'qid': qid}",
                UserWarning,
                stacklevel=2,
            )
        return float(self.function(y, predicted, qid, **options))

    def set_score_request(self, **requests: bool | str | None) -> RankingScorer:
        """Choose which metadata the scorer asks for: ``set_score_request(sample_weight=True)``."""
        known = {"qid", "sample_weight"} if self.by_query else {"sample_weight"}
        unknown = set(requests) - known
        if unknown:
            raise TypeError(f"{self!r} takes no {unknown.pop()!r}; it knows {', '.join(sorted(known))}")
        self._requests.update(requests)
        return self

    def get_metadata_routing(self) -> Any:
        """What scikit-learn's metadata routing hands over."""
        from sklearn.utils.metadata_routing import MetadataRequest

        routing = MetadataRequest(owner=repr(self))
        for parameter in ("qid", "sample_weight") if self.by_query else ("sample_weight",):
            routing.score.add_request(param=parameter, alias=self._requests.get(parameter))
        return routing

    def _accept_sample_weight(self) -> bool:
        return True  # asked by scikit-learn when routing is off

    def __repr__(self) -> str:
        shown = {key: value for key, value in self.options.items() if key != "k" or "@" not in self.name}
        return f"ranking_scorer({', '.join([repr(self.name), *(f'{k}={v!r}' for k, v in shown.items())])})"
