"""Label rankers by name, for features of all kinds: `analyze` and ``rankwise fit, evaluate, tree`` learn with these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rankwise._features import set_feature_names
from rankwise._typing import ArrayLike, RandomState
from rankwise._validation import data_frame
from rankwise.data import Rankings

#: see the guide to label ranking for which is good at what
RANKER_NAMES = (
    "consensus",
    "neighbors",
    "plackett-luce",
    "pairwise",
    "labelwise",
    "kernel",
    "tree",
    "forest",
    "boosted",
    "stacked",
)


def make_ranker(
    name: str, *, categorical_features: Any = None, random_state: RandomState = None, n_jobs: int | None = None
) -> Any:
    """Make a ranker that takes categories, and missing values.

    Parameters
    ----------
    name : str
        One of `RANKER_NAMES`.
    categorical_features : None, or array-like of column numbers, column names or booleans
        Columns that hold categories. None takes the columns of a data frame that hold text, categories or Booleans.
    random_state, n_jobs
        For rankers that have these parameters.

    Returns
    -------
    estimator
        The ranker itself if it can split categories, else a pipeline that turns features into numbers first.
    """
    from sklearn.pipeline import Pipeline

    from rankwise import label_ranking as rankers
    from rankwise.label_ranking.numeric import NumericFeatures

    makers: dict[str, Callable[[], Any]] = {
        "consensus": lambda: rankers.DummyRanker("borda"),
        "neighbors": rankers.NearestNeighborsRanker,
        "plackett-luce": rankers.PlackettLuceRanker,
        "pairwise": rankers.PairwiseRanker,
        "labelwise": rankers.LabelwiseRanker,
        "kernel": rankers.KernelRanker,
        "tree": lambda: rankers.RankingTree(ccp_alpha="cv"),
        "forest": rankers.RankingForest,
        "boosted": rankers.BoostedRanker,
        "stacked": rankers.StackedRanker,
    }
    ranker = makers[name]()
    given = {"random_state": random_state, "n_jobs": n_jobs, "categorical_features": categorical_features}
    known = ranker.get_params()
    ranker.set_params(**{parameter: value for parameter, value in given.items() if parameter in known})
    if "categorical_features" in known:
        return ranker
    return Pipeline([("features", NumericFeatures(categorical_features)), ("ranker", ranker)])


def fit_ranker(model: Any, X: ArrayLike, rankings: Rankings, feature_names: Sequence[str]) -> Any:
    """Fit to the items that some ranking compares with another; the model knows the names of the features."""
    model.fit(X, rankings.comparable())
    if data_frame(X, "X") is None:  # only data frames have names of their own
        set_feature_names(features_step_of(model), feature_names)
    return model


def ranker_of(model: Any) -> Any:
    """The ranker itself, of a ranker or a pipeline."""
    return model[-1] if hasattr(model, "steps") else model


def features_step_of(model: Any) -> Any:
    """What sees the features first, of a ranker or a pipeline."""
    return model[0] if hasattr(model, "steps") else model
