"""The numbers of ``rankwise quickstart``: what rankings look like, and how hard they are to predict."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise import __version__
from rankwise._random import check_generator
from rankwise._typing import FloatArray
from rankwise.cli import sources
from rankwise.cli.baselines import (
    N_FOLDS,
    Baseline,
    OnStep,
    compared_items,
    consensus_of_compared,
    cross_validate,
)
from rankwise.cli.description import Description, describe
from rankwise.data import Rankings
from rankwise.distances import kendall_distance, pairwise_distances

if TYPE_CHECKING:
    from rankwise.label_ranking import RankingTree

# Enough for a first impression; the command should answer within seconds whatever the data.
_MOST_ROWS = 1_000
# Rankers learn pairs of items: of many items fewer rankings are learnt from, but these at least.
_MOST_PAIRS, _FEWEST_ROWS = 500_000, 200
# A tree to be read has at most 2**3 leaves, each of at least one row in so many.
_TREE_DEPTH, _MOST_LEAVES = 3, 20


@dataclass(frozen=True)
class Standing:
    """An item in the Borda consensus: its position, the share of opponents beaten, and that share as a mean rank."""

    item: str
    position: int
    share_beaten: float
    mean_rank: float


@dataclass(frozen=True)
class Agreement:
    """Mean Kendall distances, as shares of the pairs of items: 0 is the same order, 1 the reverse.

    None where no two rankings compare the same pair of items.
    """

    to_consensus: float | None
    to_each_other: float | None
    n_compared: int


@dataclass(frozen=True)
class Quickstart:
    """All that the command prints and reports."""

    data: str
    seed: int
    description: Description
    consensus: list[Standing]
    never_compared: list[str]
    agreement: Agreement
    n_folds: int
    n_learned: int
    baselines: list[Baseline]
    baselines_left_out: str
    tree: str
    versions: dict[str, str]
    rankings: Rankings = field(repr=False)
    fitted_tree: RankingTree | None = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The results without the data, ready for JSON."""
        result = asdict(replace(self, fitted_tree=None))
        del result["rankings"], result["fitted_tree"]
        return result


def analyse(name: str, *, seed: int = 0, on_step: OnStep = lambda step, share: None) -> Quickstart:
    """Describe rankings, find their consensus, cross-validate a few rankers, and fit a tree to read.

    Parameters
    ----------
    name : str
        A data set or a file, see `rankwise.cli.sources.load`.
    seed : int, default=0
        Decides the folds, the forest, the tree and the samples.
    on_step : callable, optional
        Told what happens next and the share of the work that is done.

    Returns
    -------
    Quickstart
    """
    on_step(f"loading {name}", 0.0)
    source = sources.load(name)
    rankings = source.rankings
    on_step("comparing the rankings", 0.05)
    consensus, scores = consensus_of_compared(rankings)
    if np.isnan(consensus).all():
        raise ValueError(f"no ranking of {name} compares two items, so there is nothing to show")
    rng = check_generator(seed)
    agreement = _agreement(rankings, consensus, rng)
    rows = _sample(len(rankings), _rows_to_learn(rankings.n_items), rng)
    X, y = source.X[rows], rankings[rows]
    baselines, left_out = cross_validate(
        X, y, seed, lambda step, share: on_step(step, 0.1 + 0.8 * share), categorical=source.categorical
    )
    tree = None
    if baselines:
        on_step("growing a tree", 0.9)
        tree = _small_tree(X, y, source, seed)
    return Quickstart(
        data=name,
        seed=seed,
        description=describe(source),
        consensus=_standings(rankings, consensus, scores),
        never_compared=[str(rankings.items[i]) for i in np.flatnonzero(np.isnan(consensus))],
        agreement=agreement,
        n_folds=N_FOLDS,
        n_learned=len(rows),
        baselines=baselines,
        baselines_left_out=left_out,
        tree="" if tree is None else tree.export_text(),
        versions=_versions(),
        rankings=rankings,
        fitted_tree=tree,
    )


# ---------------------------------------------------------------------------------------------------------------


def _standings(rankings: Rankings, consensus: FloatArray, scores: FloatArray) -> list[Standing]:
    n_compared = np.isfinite(consensus).sum()
    mean_ranks = n_compared - scores * (n_compared - 1)
    return [
        Standing(str(rankings.items[i]), int(consensus[i]), float(scores[i]), float(mean_ranks[i]))
        for i in np.argsort(consensus, kind="stable")[:n_compared]
    ]


def _agreement(rankings: Rankings, consensus: FloatArray, rng: np.random.Generator) -> Agreement:
    rows = _sample(len(rankings), _MOST_ROWS, rng)
    weights = rankings.weights[rows]
    # Two rankings that share a row, because it counts more than once, are 0 apart, like the diagonal.
    pairs = np.triu(np.outer(weights, weights), k=1) + np.diag(np.maximum(weights * (weights - 1) / 2, 0))
    return Agreement(
        to_consensus=_mean(kendall_distance(rankings, consensus, normalize=True), rankings.weights),
        to_each_other=_mean(pairwise_distances(rankings[rows], normalize=True), pairs),
        n_compared=len(rows),
    )


def _rows_to_learn(n_items: int) -> int:
    pairs = max(1, n_items * (n_items - 1) // 2)
    return min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_PAIRS // pairs))


def _small_tree(X: np.ndarray, y: Rankings, source: sources.Source, seed: int) -> RankingTree:
    """A tree that a person can read, no larger than the data warrant."""
    from rankwise.label_ranking import RankingTree

    tree: Any = RankingTree(
        max_depth=_TREE_DEPTH,
        min_samples_leaf=max(1, len(y) // _MOST_LEAVES),
        ccp_alpha="cv",
        categorical_features=list(source.categorical),
        random_state=seed,
    )
    tree.fit(X, y.select([y.items[i] for i in compared_items(y)]))
    # Only data frames bring names along, and these take pandas or its like.
    tree.feature_names_in_ = np.array(source.feature_names, dtype=object)
    return tree


def _mean(distances: FloatArray, weights: FloatArray) -> float | None:
    """Weighted mean of the distances that are defined; None if there is none."""
    counts = ~np.isnan(distances) & (weights > 0)
    return float(np.average(distances[counts], weights=weights[counts])) if counts.any() else None


def _sample(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    return np.arange(n) if n <= most else np.sort(rng.choice(n, size=most, replace=False))


def _versions() -> dict[str, str]:
    import sklearn

    return {
        "rankwise": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
