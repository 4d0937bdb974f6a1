"""The numbers of ``rankwise report`` and ``rankwise quickstart``: all that one look at rankings can tell."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise import __version__
from rankwise._random import check_generator
from rankwise._typing import FloatArray
from rankwise.cli import sources
from rankwise.cli.comparable import consensus_of_compared
from rankwise.cli.consensus import FEWEST_RANKINGS, Found, find_consensus, with_intervals_if_any
from rankwise.cli.console import OnStep
from rankwise.cli.description import Description, Pairs, describe, describe_pairs
from rankwise.cli.files import shown_name
from rankwise.cli.leaderboard import Standing, evaluate_rankers, sample_rows
from rankwise.cli.models import Model, fit_ranker, make_ranker
from rankwise.data import Rankings
from rankwise.distances import pairwise_distances

if TYPE_CHECKING:
    from rankwise.label_ranking import RankingTree

# Enough for a first impression; the command should answer within seconds whatever the data.
_MOST_ROWS = 1_000
# Rankers learn pairs of items: of many items fewer rankings are learnt from, but these at least.
_MOST_PAIRS, _FEWEST_LEARNT = 500_000, 200
_SECONDS_OF_PROOF = 20.0
# Resamples of the rankings: fewer where their pairs are many.
_RESAMPLES, _FEWEST_RESAMPLES, _MOST_RESAMPLED_PAIRS = 1_000, 200, 1e9
_LEVEL = 0.95
N_FOLDS = 5
_FOREST: dict[str, Any] = {"n_estimators": 50, "min_samples_leaf": 5}
# A tree to be read has at most 2**3 leaves, each of at least one row in so many.
_TREE_DEPTH, _MOST_LEAVES = 3, 20


@dataclass(frozen=True)
class Agreement:
    """Mean Kendall distance of two rankings, as a share of the pairs of items: 0 is the same order, 1 the reverse.

    None where no two rankings compare the same pair of items.
    """

    to_each_other: float | None
    n_compared: int


@dataclass(frozen=True)
class Analysis:
    """All that the commands print and report."""

    data: str
    seed: int
    description: Description
    pairs: Pairs
    consensus: Found
    agreement: Agreement
    n_folds: int
    n_learned: int
    leaderboard: list[Standing]
    leaderboard_left_out: str
    tree: str
    versions: dict[str, str]
    rankings: Rankings = field(repr=False)
    fitted_tree: RankingTree | None = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The results without the data, ready for JSON: same data and seed, same results, so times are left out."""
        result = asdict(replace(self, fitted_tree=None))
        del result["rankings"], result["fitted_tree"]
        for standing in result["leaderboard"]:
            del standing["seconds"]
        return result


def analyse(
    name: str,
    *,
    target: str | None = None,
    reading: Mapping[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    on_step: OnStep = lambda step, share: None,
) -> Analysis:
    """Describe rankings, find their consensus and how sure it is, cross-validate a few rankers, fit a tree to read.

    Parameters
    ----------
    name, target, reading
        A data set or a file, see `rankwise.cli.sources.load`.
    seed : int, default=0
        Decides the resamples, the folds, the forest, the tree and the samples.
    jobs : int, default=1
        Cores to work on, -1 for all; the results are the same.
    on_step : callable, optional
        Told what happens next and the share of the work that is done.

    Returns
    -------
    Analysis
    """
    shown = shown_name(name)
    on_step(f"loading {shown}", 0.0)
    source = sources.load(name, target=target, reading=reading)
    on_step("finding a consensus", 0.05)
    consensus = _consensus(source.rankings, seed, jobs)
    on_step("comparing the rankings", 0.25)
    rng = check_generator(seed)
    agreement = _agreement(source.rankings, rng)
    rows = sample_rows(len(source.rankings), _rows_to_learn(source.rankings.n_items), rng)
    part = replace(source, rankings=source.rankings[rows], X=source.X[rows])
    leaderboard, left_out = _leaderboard(part, seed, jobs, lambda step, share: on_step(step, 0.3 + 0.6 * share))
    tree = None
    if leaderboard:
        on_step("growing a tree", 0.9)
        tree = _small_tree(part, seed)
    return Analysis(
        data=shown,
        seed=seed,
        description=describe(source),
        pairs=describe_pairs(source.rankings),
        consensus=consensus,
        agreement=agreement,
        n_folds=N_FOLDS,
        n_learned=len(rows),
        leaderboard=leaderboard,
        leaderboard_left_out=left_out,
        tree="" if tree is None else tree.export_text(),
        versions=_versions(),
        rankings=source.rankings,
        fitted_tree=tree,
    )


def _consensus(rankings: Rankings, seed: int, jobs: int) -> Found:
    """Kemeny's consensus with Borda's scores and intervals, and what there is to say of it."""
    with warnings.catch_warnings(record=True) as caught:  # of groups of items that are never compared
        warnings.simplefilter("always", UserWarning)
        found = find_consensus(rankings, "kemeny", time_limit=_SECONDS_OF_PROOF, seed=seed)
    notes = [str(warning.message) for warning in caught]
    scores = dict(zip(map(str, rankings.items), consensus_of_compared(rankings)[1].tolist(), strict=True))
    ranking = [replace(place, score=scores[place.item]) for place in found.ranking]
    found = replace(found, ranking=ranking, score="opponents beaten", notes=notes)
    pairs = len(rankings) * rankings.n_items**2
    options: dict[str, Any] = {"level": _LEVEL, "prior": 0.0, "seed": seed, "jobs": jobs}
    options["n_resamples"] = int(np.clip(_MOST_RESAMPLED_PAIRS // pairs, _FEWEST_RESAMPLES, _RESAMPLES))
    return with_intervals_if_any(found, rankings, **options)


def _agreement(rankings: Rankings, rng: np.random.Generator) -> Agreement:
    rows = sample_rows(len(rankings), _MOST_ROWS, rng)
    weights = rankings.weights[rows]
    # Two rankings that share a row, because it counts more than once, are 0 apart, like the diagonal.
    pairs = np.triu(np.outer(weights, weights), k=1) + np.diag(np.maximum(weights * (weights - 1) / 2, 0))
    return Agreement(_mean(pairwise_distances(rankings[rows], normalize=True), pairs), len(rows))


def _leaderboard(source: sources.Source, seed: int, jobs: int, on_step: OnStep) -> tuple[list[Standing], str]:
    """How well rankers do out of fold, and why there is nothing to tell where there is nothing."""
    if not source.feature_names:
        return [], "none: there are no features to predict rankings from"
    if len(source.rankings) < FEWEST_RANKINGS:
        return [], f"none: fewer than {FEWEST_RANKINGS} rankings tell too little of a predictor"
    models: dict[Model, dict[str, Any]] = {
        Model.CONSENSUS: {},
        Model.NEIGHBOURS: {},
        Model.PLACKETT_LUCE: {},
        Model.TREE: _tree_params(len(source.rankings)),
        Model.FOREST: _FOREST,
    }
    rankers = {
        model.value: make_ranker(model, params=params, categorical=source.categorical, seed=seed, jobs=jobs)
        for model, params in models.items()
    }
    try:
        return evaluate_rankers(rankers, source, n_folds=N_FOLDS, n_repeats=1, seed=seed, on_step=on_step), ""
    except ValueError as error:
        return [], f"none: {error}"


def _rows_to_learn(n_items: int) -> int:
    pairs = max(1, n_items * (n_items - 1) // 2)
    return min(_MOST_ROWS, max(_FEWEST_LEARNT, _MOST_PAIRS // pairs))


def _small_tree(source: sources.Source, seed: int) -> RankingTree:
    params = _tree_params(len(source.rankings))
    tree: RankingTree = make_ranker(Model.TREE, params=params, categorical=source.categorical, seed=seed, jobs=1)
    fit_ranker(tree, source)
    return tree


def _tree_params(n_rankings: int) -> dict[str, Any]:
    """Of a tree that a person can read, no larger than the data warrant."""
    return {"max_depth": _TREE_DEPTH, "min_samples_leaf": max(1, n_rankings // _MOST_LEAVES)}


def _mean(distances: FloatArray, weights: FloatArray) -> float | None:
    """Weighted mean of the distances that are defined; None if there is none."""
    counts = ~np.isnan(distances) & (weights > 0)
    return float(np.average(distances[counts], weights=weights[counts])) if counts.any() else None


def _versions() -> dict[str, str]:
    import sklearn

    return {
        "rankwise": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
