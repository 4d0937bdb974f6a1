"""Label rankers by name, for features of all kinds: what ``fit``, ``evaluate`` and ``tree`` learn."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rankwise.cli.sources import Source


class Model(StrEnum):
    """Label rankers; see the guide to label ranking for which is good at what."""

    CONSENSUS = "consensus"
    NEIGHBOURS = "neighbours"
    PLACKETT_LUCE = "plackett-luce"
    PAIRWISE = "pairwise"
    LABELWISE = "labelwise"
    KERNEL = "kernel"
    TREE = "tree"
    FOREST = "forest"
    STACKED = "stacked"


def make_ranker(
    model: Model, *, params: Mapping[str, Any] | None = None, categorical: tuple[int, ...] = (), seed: int, jobs: int
) -> Any:
    """A ranker that takes the features of a `Source`: categories, and gaps where values are missing.

    Parameters
    ----------
    model : Model
        Which one.
    params : mapping, optional
        Its parameters, where they are not the default.
    categorical : tuple of int, default=()
        Columns of the features that hold texts.
    seed, jobs : int
        Of rankers that have random numbers or threads.

    Returns
    -------
    estimator
        The ranker itself if it can split categories, else a pipeline that turns features into numbers first.
    """
    from sklearn.pipeline import Pipeline

    from rankwise.label_ranking._numeric import NumericFeatures

    ranker = _plain(model)
    configure(ranker, params or {}, random_state=seed, n_jobs=jobs, categorical_features=list(categorical) or None)
    if "categorical_features" in ranker.get_params():
        return ranker
    return Pipeline([("features", NumericFeatures(list(categorical) or None)), ("ranker", ranker)])


def configure(estimator: Any, params: Mapping[str, Any], **given: Any) -> None:
    """Set what the command gives, where the estimator has such a parameter, and then what the user asks for.

    Parameters
    ----------
    estimator : estimator
        It is changed.
    params : mapping
        From ``--param``; a name that the estimator does not know is a mistake in the command.
    **given : object
        Parameters with options of their own.
    """
    known = estimator.get_params()
    unknown = [name for name in params if name not in known]
    if unknown:
        names = ", ".join(sorted(set(known) - set(given)))
        message = f"{type(estimator).__name__} has no parameter {unknown[0]!r}; it has {names or 'none'}"
        raise typer.BadParameter(message, param_hint="--param")
    estimator.set_params(**{name: value for name, value in given.items() if name in known} | dict(params))


@contextmanager
def mistakes_in(names: Iterable[str]) -> Iterator[None]:
    """Tell a parameter that the user gave wrongly, a mistake in the command, from a problem with the data.

    Parameters
    ----------
    names : iterable of str
        Of the parameters that ``--param`` sets; which values these take, estimators say when they are fitted.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if any(re.search(rf"\b{re.escape(name)}\b", str(error)) for name in names):
            raise typer.BadParameter(str(error), param_hint="--param") from None
        raise


def fit_ranker(ranker: Any, source: Source) -> Any:
    """Fit the ranker to the items that some ranking compares with another, and tell it the names of the features."""
    import numpy as np

    from rankwise.cli.comparable import compared_items

    check_features(source)
    rankings = source.rankings
    ranker.fit(source.X, rankings.select([rankings.items[i] for i in compared_items(rankings)]))
    # Only data frames bring names along, and these take pandas or its like.
    features_step_of(ranker).feature_names_in_ = np.array(source.feature_names, dtype=object)
    return ranker


def check_features(source: Source) -> None:
    """Refuse rankings that come without features, and warn of features that may be answers."""
    if not source.feature_names:
        raise ValueError(
            "there are no features to predict rankings from; the file needs columns beside the rankings, with numbers, "
            "or texts that repeat"
        )
    if source.suspects:
        warnings.warn(
            f"features that are named like the columns of the rankings may give the answers away: "
            f"{', '.join(source.suspects)}; name them in --target too, or leave them out of the file",
            stacklevel=2,
        )


def ranker_of(model: Any) -> Any:
    """The ranker itself, of a ranker or a pipeline."""
    return model[-1] if hasattr(model, "steps") else model


def features_step_of(model: Any) -> Any:
    """What meets the features first, of a ranker or a pipeline."""
    return model[0] if hasattr(model, "steps") else model


def _plain(model: Model) -> Any:
    from rankwise import label_ranking as rankers

    plain: dict[Model, Callable[[], Any]] = {
        Model.CONSENSUS: lambda: rankers.DummyRanker("borda"),
        Model.NEIGHBOURS: rankers.NearestNeighborsRanker,
        Model.PLACKETT_LUCE: rankers.PlackettLuceRanker,
        Model.PAIRWISE: rankers.PairwiseRanker,
        Model.LABELWISE: rankers.LabelwiseRanker,
        Model.KERNEL: rankers.KernelRanker,
        Model.TREE: lambda: rankers.RankingTree(ccp_alpha="cv"),
        Model.FOREST: rankers.RankingForest,
        Model.STACKED: rankers.StackedRanker,
    }
    return plain[model]()
