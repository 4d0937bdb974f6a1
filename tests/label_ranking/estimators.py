"""Every label ranker, small enough for many checks: add a new one here."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags

from rankwise.embeddings import GraphCutEmbedding
from rankwise.label_ranking import (
    BoostedRanker,
    ClusterRanker,
    ConformalRanker,
    DummyRanker,
    DyadRanker,
    KernelRanker,
    LabelwiseRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    PlackettLuceTree,
    RankingForest,
    RankingTree,
    StackedRanker,
)

RANKERS = [
    DummyRanker(),
    DummyRanker(decode="borda"),
    NearestNeighborsRanker(),
    NearestNeighborsRanker("cv", weights="distance", decode="borda"),
    LabelwiseRanker(DecisionTreeRegressor(random_state=0)),
    PairwiseRanker(),
    PairwiseRanker(decode="copeland", ties="random", random_state=0),
    ClusterRanker(3, random_state=0),
    PlackettLuceRanker(),
    DyadRanker(),
    DyadRanker("boosted", n_estimators=40, min_samples_leaf=5),
    PlackettLuceTree(0.5, min_samples_leaf=5),
    KernelRanker(),
    KernelRanker("linear", alpha=1.0),
    KernelRanker("linear", alpha=1.0, embedding="position"),
    KernelRanker("linear", alpha=1.0, embedding=GraphCutEmbedding(random_state=0)),
    RankingTree(),
    RankingTree("position", growth="level", decode="borda", ccp_alpha="cv", random_state=0),
    RankingForest(10, random_state=0),
    RankingForest(10, pool="rankings", splitter="random", bootstrap=False, max_samples=0.8, random_state=0),
    BoostedRanker(20, min_samples_leaf=5, early_stopping=False),
    BoostedRanker(20, loss="plackett_luce", min_samples_leaf=1, subsample=0.8, random_state=0),
    StackedRanker([("nearest", NearestNeighborsRanker(3)), ("linear", PlackettLuceRanker())], cv=2, random_state=0),
    ConformalRanker(RankingForest(10, random_state=0), random_state=0),
]

#: rankers for which a row of weight 2 is exactly the row twice, up to rounding
WEIGHED_EXACTLY = [
    DummyRanker(),
    DummyRanker(decode="borda"),
    LabelwiseRanker(DecisionTreeRegressor(min_samples_leaf=1, random_state=0)),
    PairwiseRanker(LogisticRegression(tol=1e-10, max_iter=10_000)),
    PlackettLuceRanker(tol=1e-9),
    DyadRanker(tol=1e-9),
    KernelRanker("linear", alpha=1.0),
    RankingTree(max_depth=3),
    BoostedRanker(10, max_depth=3, min_samples_leaf=1),
    PlackettLuceTree(0.5, min_samples_leaf=5),
]


def expected_failures(estimator: object) -> dict[str, str]:
    """Names of the checks of scikit-learn that a ranker does not pass, and why."""
    one_column = "the check itself makes a target of one column, and one item cannot be ranked"
    failures = dict.fromkeys(["check_sample_weights_pandas_series", "check_sample_weights_not_an_array"], one_column)
    takes_sparse = get_tags(estimator).input_tags.sparse
    if takes_sparse:
        failures |= {f"check_estimator_sparse_{form}": "rankings have several columns" for form in ("array", "matrix")}
    reason = why_weights_are_not_copies(estimator)
    if reason is not None:
        kinds = ("dense", "sparse") if takes_sparse else ("dense",)
        failures |= {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}
    return failures


def why_weights_are_not_copies(estimator: object) -> str | None:
    """Why a row of weight 2 is not the row twice; None if it is."""
    reason = None
    if isinstance(estimator, NearestNeighborsRanker) and estimator.n_neighbors == "cv":
        reason = "a row of weight 2 is one neighbor whose vote counts twice"
    if isinstance(estimator, RankingForest) or getattr(estimator, "ccp_alpha", None) == "cv":
        reason = "rows are drawn for trees and folds, so that a row of weight 2 is not the row twice"
    if isinstance(estimator, DyadRanker) and estimator.model == "boosted":
        reason = "leaves and bins of trees count dyads, not weights"
    if isinstance(estimator, BoostedRanker) and (estimator.min_samples_leaf > 1 or estimator.subsample < 1):
        reason = "leaves and samples are of rows, not of weights"
    if isinstance(estimator, StackedRanker):
        reason = "folds are of rows, not of weights"
    if isinstance(estimator, ConformalRanker):
        reason = "rows are set aside whatever their weights"
    return reason
