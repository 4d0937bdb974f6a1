"""`analyze`: one look at rankings that computes all parts of an `Analysis`, in seconds whatever the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwise._decode import ConsensusRule
from rankwise._sklearn import safe_indexing
from rankwise._typing import ArrayLike, RandomState
from rankwise._validation import check_generator, check_n_jobs
from rankwise.aggregation import borda
from rankwise.analysis.analysis import N_FOLDS, Analysis
from rankwise.analysis.base import features_of, rankings_of, sample_rows
from rankwise.analysis.by_group import group_results
from rankwise.analysis.consensus import FEWEST_RANKINGS, add_intervals, find_consensus
from rankwise.analysis.consensus_comparison import compare_rules
from rankwise.analysis.consensus_result import ConsensusResult
from rankwise.analysis.kendalls_w import agreement
from rankwise.analysis.people import (
    compared_groups,
    driving_features,
    found_segments,
    grouped_rankings,
    named_raters,
    winner_robustness,
)
from rankwise.analysis.rankers import fit_ranker, make_ranker
from rankwise.analysis.summary import summary
from rankwise.data import Rankings, Survey
from rankwise.model_selection import leaderboard
from rankwise.model_selection.leaderboard import NothingToPredictError

# Enough rankings for a first impression; an analysis should take seconds whatever the data.
_MOST_ROWS = 1_000
# Rankers learn pairs of items: if there are many items, fewer rankings are learned from, but at least these.
_MOST_PAIRS, _FEWEST_LEARNED = 500_000, 200
_SECONDS_OF_PROOF = 20.0
# Resamples of the rankings: fewer if they have very many pairs, and none of so many items that each takes a second.
_RESAMPLES, _FEWEST_RESAMPLES, _MOST_RESAMPLED_PAIRS, _MOST_ITEMS_RESAMPLED = 1_000, 200, 1e9, 600
_RANKERS = ("consensus", "neighbors", "plackett-luce", "tree", "forest")
_FOREST: dict[str, Any] = {"n_estimators": 50, "min_samples_leaf": 5}
# A tree to be read has at most 2**3 leaves, each with at least 1/20 of the rows.
_TREE_DEPTH, _MOST_LEAVES = 3, 20
# Rules that stand beside the consensus; with very many items, those that are quick.
_COMPARED_RULES: tuple[ConsensusRule, ...] = (
    "kemeny",
    "borda",
    "copeland",
    "schulze",
    "ranked-pairs",
    "plurality",
    "instant-runoff",
)
_QUICK_RULES, _MOST_ITEMS_COMPARED = 3, 100


def analyze(
    rankings: ArrayLike,
    X: Any = None,
    by: Any = None,
    *,
    categorical_features: Any = None,
    feature_names: Sequence[str] | None = None,
    name: str = "",
    notes: Sequence[str] = (),
    random_state: RandomState = None,
    n_jobs: int | None = None,
    on_step: Callable[[str, float], None] | None = None,
) -> Analysis:
    """Analyze rankings: what they hold, their consensus and its uncertainty, and how well features predict them.

    It takes seconds. Of more than 1,000 rankings, the consensus is of all, and the rest of a random sample.

    Parameters
    ----------
    rankings : array-like of shape (n_rankings, n_items), Rankings or Survey
        Positions: column = item, 1 = best. The weights of Rankings count. A survey brings features, groups, names and
        notes with it.
    X : array-like or data frame of shape (n_rankings, n_features), or dict of columns, optional
        Features of the rankings, such as the age of who ranked; missing values are allowed. A dict is what
        ``read_rankings(path, return_covariates=True)`` returns. Without features, or with fewer than 10 rankings, there
        is no leaderboard and no tree.
    by : array-like of shape (n_rankings,), or str, optional
        The group of each ranking, None or NaN where it is not known; or the name of a column of X. Groups are compared.
        By default those of a survey.
    categorical_features : None, array-like of column numbers, column names or booleans, or dict
        Columns that hold categories. None takes the columns of a data frame or a dict that hold text, categories or
        Booleans. A dict has columns as keys, and as values their categories from low to high, or None.
    feature_names : sequence of str, optional
        Names of the features; by default the columns of a data frame or a dict, else x0, x1, ...
    name : str, default=""
        What the data are called.
    notes : sequence of str, default=()
        What a reader should know about the data.
    random_state : None, int, Generator or RandomState
        Decides resamples, folds, forest, tree and samples.
    n_jobs : int, optional
        Number of threads for resamples and cross-validation; -1 uses all processors. The results do not depend on it.
    on_step : callable, optional
        Called with what happens next and the share of the work that is done.

    Returns
    -------
    Analysis

    Examples
    --------
    >>> import rankwise
    >>> result = rankwise.analyze([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, random_state=0)
    >>> result.consensus.order
    [0, 1, 2]
    >>> result.highlights[1]
    '0 comes first, and would do so again in nearly every repetition of the survey.'
    """
    check_n_jobs(n_jobs)
    tell = (lambda step, share: None) if on_step is None else on_step
    survey = rankings if isinstance(rankings, Survey) else None
    if survey is not None:
        if X is None:
            X, feature_names = survey.X, feature_names or survey.feature_names
            categorical_features = categorical_features or survey.categorical_features
        name, notes = name or survey.name, notes or survey.notes
    rankings = rankings_of(rankings)
    grouped = grouped_rankings(rankings, by, X, survey)
    if not len(rankings):
        raise ValueError("there are no rankings to analyze; give at least one")
    X, names, categorical_features = features_of(X, feature_names, categorical_features)
    if names:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(rankings):
            raise ValueError(f"X has {n_rows} rows, but there are {len(rankings)} rankings; give one row for each")
    is_seed = isinstance(random_state, int | np.integer)
    seed: Any = random_state if is_seed else check_generator(random_state).integers(2**31)
    tell("finding a consensus", 0.05)
    best = _consensus(rankings, seed, n_jobs)
    compared = _COMPARED_RULES if rankings.n_items <= _MOST_ITEMS_COMPARED else _COMPARED_RULES[:_QUICK_RULES]
    rules = compare_rules(rankings, compared, known=best, random_state=seed)
    tell("comparing the rankings", 0.25)
    rng = check_generator(seed)
    agrees = agreement(rankings, max_rankings=_MOST_ROWS, random_state=rng)
    n_pairs = max(1, rankings.n_items * (rankings.n_items - 1) // 2)
    n_learned = min(_MOST_ROWS, max(_FEWEST_LEARNED, _MOST_PAIRS // n_pairs))
    rows = sample_rows(len(rankings), n_learned, rng)
    part, X_part = rankings[rows], X if len(rows) == len(rankings) or not names else safe_indexing(X, rows)
    missing: dict[str, str] = {}
    board, tree, driving, reason = None, None, None, _reason_not_to_learn(names, len(rows))
    if not reason:
        made = {name: _ranker(name, len(rows), categorical_features, seed) for name in _RANKERS}
        try:
            board = leaderboard(
                made,
                X_part,
                part,
                cv=N_FOLDS,
                random_state=seed,
                n_jobs=n_jobs,
                on_step=None if on_step is None else lambda step, share: tell(step, 0.3 + 0.3 * share),
            )
        except NothingToPredictError as error:
            reason = str(error)
        else:
            tell("growing a tree", 0.6)
            tree = fit_ranker(made["tree"], X_part, part, names)
            tell("finding what drives the rankings", 0.65)
            driving = driving_features(X_part, part, names, categorical_features, seed, n_jobs, missing)
    tell("looking for segments", 0.7)
    found = found_segments(X_part, part, names, categorical_features, seed, n_jobs, missing, n_total=len(rankings))
    tell("comparing groups", 0.85)
    groups = None
    if grouped is not None:
        groups = group_results(rankings, grouped.groups(), by=grouped.by_name, random_state=seed)
    return Analysis(
        rankings=rankings,
        summary=summary(rankings, X, feature_names=names or None, name=name, notes=notes),
        consensus=best,
        comparison=rules,
        agreement=agrees,
        leaderboard=board,
        no_leaderboard=reason,
        tree=tree,
        n_learned=len(rows),
        seed=int(seed),
        survey=survey,
        groups=groups,
        group_comparison=compared_groups(grouped, seed, missing),
        segments=found,
        drivers=driving,
        raters=named_raters(survey, best, seed),
        robustness=winner_robustness(rankings, survey, grouped, missing),
        missing=missing,
    )


def resamples_of(rankings: Rankings) -> int:
    """How often to resample rankings for intervals: less often if they have very many pairs."""
    n_pairs = len(rankings) * rankings.n_items**2
    return int(np.clip(_MOST_RESAMPLED_PAIRS // n_pairs, _FEWEST_RESAMPLES, _RESAMPLES))


def _consensus(rankings: Rankings, seed: int, n_jobs: int | None) -> ConsensusResult:
    """Kemeny's consensus with intervals and Borda's scores; what there is to warn about becomes notes."""
    n_resamples = resamples_of(rankings)
    with warnings.catch_warnings(record=True) as caught:  # about groups of items that are never compared
        warnings.simplefilter("always", UserWarning)
        found = find_consensus(rankings, time_limit=_SECONDS_OF_PROOF, random_state=seed)
        if rankings.n_items > _MOST_ITEMS_RESAMPLED:
            note = (
                f"no intervals of places: with more than {_MOST_ITEMS_RESAMPLED} items, resampling would take minutes"
            )
            found = replace(found, notes=(*found.notes, note))
        else:
            found = add_intervals(found, rankings, n_resamples=n_resamples, random_state=seed, n_jobs=n_jobs)
    notes = (*(str(warning.message) for warning in caught), *found.notes)
    scores = borda(rankings.comparable(), return_scores=True)[1]
    return replace(found, scores=scores, score_name="opponents beaten", notes=notes)


def _reason_not_to_learn(feature_names: Sequence[str], n_rankings: int) -> str:
    if not feature_names:
        return "there are no features to predict rankings from"
    if n_rankings < FEWEST_RANKINGS:
        return f"fewer than {FEWEST_RANKINGS} rankings say too little about a predictor"
    return ""


def _ranker(name: str, n_rankings: int, categorical_features: Any, seed: int) -> Any:
    ranker = make_ranker(name, categorical_features=categorical_features, random_state=seed, n_jobs=1)
    if name == "tree":  # one that a person can read, no larger than the data warrant
        ranker.set_params(max_depth=_TREE_DEPTH, min_samples_leaf=max(1, n_rankings // _MOST_LEAVES))
    elif name == "forest":
        ranker.set_params(**_FOREST)
    return ranker
