"""What drives rankings: `drivers`, which features help to predict them, and how places change with each.

``rankwise drivers`` prints it. `driver_features` checks features, `driver_effects` makes the curves, and
`driver_results` puts all into words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwise._progress import silent, track
from rankwise._tables import counted
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import (
    check_generator,
    check_n_jobs,
    check_open_share,
    check_whole_number,
    weights_count_people,
)
from rankwise.analysis.base import sample_rows
from rankwise.analysis.driver_effects import feature_effects
from rankwise.analysis.driver_features import DriverFeatures, driver_features, taken_apart
from rankwise.analysis.driver_results import Drivers
from rankwise.analysis.kendalls_w import WeightKind
from rankwise.data import Rankings
from rankwise.data.positions import compare_positions
from rankwise.model_selection.comparison import holm

_FEWEST_ROWS = 20
# Where two people are alike by chance, each is predicted from the other, so that chance counts twice. That makes the
# variance of a mean fall larger than for independent people: by a fifth, as simulations say (60 to 240 people, 3 to 10
# folds, forests and linear models: 4 to 6% of the intervals of useless features leave out 0, and without it 6 to 8%).
_COUNTED_TWICE = 1.2


def drivers(
    X: Any,
    rankings: ArrayLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    categorical_features: Any = None,
    ranker: Any = None,
    n_folds: int = 5,
    n_shuffles: int = 5,
    level: float = 0.95,
    max_rows: int = 4000,
    weight_kind: WeightKind = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Drivers:
    r"""Find out which features drive rankings, and how places change with each.

    *Definition.* Rankers learn from all folds but one, and predict the rankings of the people in that fold, once as
    they are and ``n_shuffles`` times with the values of a feature shuffled among them. The importance of the feature is
    the mean over people of how much Kendall's tau falls. The test asks whether the expected tau (that of rankings with
    the predicted pairwise probabilities, as far as people differ from all) falls by more than chance: for a feature
    that tells nothing, shuffled values are as good as its own, so the mean fall of the people is 0 up to its standard
    error. For the test, every fold is predicted from the folds before it alone, and the studentized means of the folds
    are added up, so that no luck counts twice.

    Parameters
    ----------
    X : array-like of shape (n_rankings, n_features), data frame, mapping of columns, or Survey
        Features of the people. A Survey brings the rankings along; its ids and comments are no features.
    rankings : array-like of shape (n_rankings, n_items) or Rankings
        Positions: column = item, 1 = best, of any kind. The weights of Rankings count.
    feature_names : sequence of str, optional
        Names of the features of an array.
    categorical_features : None, array-like or dict
        Columns that hold categories, as in `RankingForest`.
    ranker : label ranker, optional
        What learns; by default a `RankingForest`. It is cloned.
    n_folds : int, default=5
        Folds of people.
    n_shuffles : int, default=5
        How often a feature is shuffled.
    level : float, default=0.95
        Level of the intervals; a corrected p-value of at most 1 - level counts as an effect.
    max_rows : int, default=4000
        Of more people, a random sample is looked at; the result says so.
    weight_kind : {"auto", "counts", "survey"}, default="auto"
        What weights are, as in `summary`.
    random_state : None, int, Generator or RandomState
        Source of the folds, shuffles and halves.
    n_jobs : int, optional
        Threads of the default ranker. Results do not depend on it.

    Returns
    -------
    Drivers

    See Also
    --------
    rankwise.label_ranking.PlackettLuceTree : Groups of people who differ significantly.
    compare_groups : A test of given groups.

    Notes
    -----
    The intervals of importances are for the rankers that were fitted, not the best possible ones; their errors allow
    for people who are predicted from each other.
    An effect is the mean prediction if everybody had a value, by rankers of all folds but one, corrected by what they
    miss: residuals of people who were not learned from, regressed on the feature (numbers: two bends; categories) with
    all other features taken out of it. That undoes how forests flatten steep effects, and gives intervals, which hold
    if the other features say in a line what the feature is. Where an effect differs between people, it is an average.
    Features that go together share their importance, see the notes of the result: an effect is one of the model, not
    of an experiment.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45. Friedman (2001), Greedy function approximation, Annals of
    Statistics 29. Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6. Robinson (1988), Root-n-consistent semiparametric regression, Econometrica 56. Chernozhukov et al.
    (2018), Double/debiased machine learning for treatment and structural parameters, Econometrics Journal 21.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.analysis import drivers
    >>> rng = np.random.default_rng(0)
    >>> X = {"age": rng.integers(18, 80, 200).astype(float), "luck": rng.random(200)}
    >>> y = np.where(X["age"][:, None] < 50, [[1, 2, 3]], [[3, 1, 2]])
    >>> found = drivers(X, y, random_state=0)
    >>> found.features, found.significant
    (('age', 'luck'), [0])
    """
    check_n_jobs(n_jobs)
    check_open_share("level", level)
    for name, value, least in (("n_folds", n_folds, 2), ("n_shuffles", n_shuffles, 1)):
        check_whole_number(name, value, at_least=least)
    most = check_whole_number("max_rows", max_rows, at_least=_FEWEST_ROWS)
    X, y, categorical_features, notes = taken_apart(X, rankings, categorical_features)
    if len(y) < _FEWEST_ROWS:
        raise ValueError(
            f"{counted(len(y), 'ranking is', 'rankings are')} too few; drivers needs {_FEWEST_ROWS} or more"
        )
    features = driver_features(X, feature_names, categorical_features, len(y))
    rng = check_generator(random_state, "drivers")
    notes += features.notes
    rows = np.flatnonzero(y.informative & (y.weights > 0))
    if len(rows) < len(y):
        which = counted(len(y) - len(rows), "ranking that compares or counts", "rankings that compare or count")
        notes.append(f"left out: {which} nothing")
    n_total = len(rows)
    held = y.positions[rows]
    n_ordered = int(np.sum(np.nanmin(held, axis=1) < np.nanmax(held, axis=1)))  # no tau is known of ties alone
    if n_ordered < _FEWEST_ROWS:
        raise ValueError(
            f"{counted(n_ordered, 'ranking puts', 'rankings put')} one item before another; drivers needs "
            f"{_FEWEST_ROWS} or more"
        )
    rows = rows[sample_rows(n_total, most, rng)]
    if len(rows) < n_total:
        notes.append(f"a random sample of {len(rows):,} of {n_total:,} people was looked at; raise max_rows for more")
    people = weights_count_people(y.weights, weight_kind)
    y = y[rows].comparable()
    if np.all((y.positions == y.positions[0]) | np.isnan(y.positions)):
        notes.append("all rankings are equal, so that no feature can be told to matter; there are no intervals")
    features = features._replace(values=np.ascontiguousarray(features.values[rows]))
    learner = _Learner(features, y, ranker, n_jobs)

    fold = rng.permutation(np.arange(len(y)) % n_folds)
    importance, error, taus, constant = _importances(learner, fold, n_shuffles, rng, people=people)
    p_values = holm(_progressive_p(learner, fold, n_shuffles, rng, people=people))
    effects = feature_effects(
        features,
        y,
        learner.fit,
        fold,
        level=level,
        people=people,
        rng=rng,
    )
    from scipy.stats import t

    half = np.where(error > 0, float(t.ppf((1 + level) / 2, len(rows) - 1)) * error, np.nan)
    order = np.argsort(-importance, kind="stable")
    known = np.isfinite(taus)
    return Drivers(
        features=tuple(features.names[f] for f in order),
        items=y.items,
        importances=importance[order],
        low=(importance - half)[order],
        high=(importance + half)[order],
        p_values=p_values[order],
        effects=tuple(effects[f] for f in order),
        tau=float(np.average(taus[known], weights=y.weights[known])),
        tau_without=float(np.average(constant[known], weights=y.weights[known])),
        n=len(rows),
        n_total=n_total,
        level=level,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Learner:
    """Fits a ranker to some people; what it returns predicts pairwise probabilities."""

    features: DriverFeatures
    rankings: Rankings
    ranker: Any
    n_jobs: int | None

    def fit(self, rows: Any, seed: int, n_trees: int = 100) -> Callable[[FloatArray], FloatArray]:
        from sklearn.pipeline import make_pipeline

        from rankwise.label_ranking import RankingForest
        from rankwise.label_ranking.base import pairwise_of, seeded_clone
        from rankwise.label_ranking.numeric import NumericFeatures

        if self.ranker is None:
            model: Any = RankingForest(n_trees, min_samples_leaf=5, random_state=seed, n_jobs=self.n_jobs)
        else:
            model = seeded_clone(self.ranker, seed)
        nominal = self.features.nominal
        if "categorical_features" in model.get_params():
            model.set_params(categorical_features=nominal or None)
        else:
            model = make_pipeline(NumericFeatures(nominal or None), model)
        with silent():  # the loop over folds or halves shows progress
            model.fit(self.features.values[rows], self.rankings[rows])
        return lambda X: np.asarray(pairwise_of(model, X))

    def falls(self, train: Any, test: Any, n_shuffles: int, rng: np.random.Generator) -> _Falls:
        """By how much tau falls for some people when each feature is shuffled among them; others are learned from."""
        from rankwise.aggregation import preference_matrix

        inside, outside = np.flatnonzero(test), np.flatnonzero(train)
        X, n_items = self.features.values[inside], self.rankings.n_items
        predict = self.fit(outside, int(rng.integers(2**31)))
        shares = np.nan_to_num(preference_matrix(self.rankings[outside]).probabilities, nan=0.5)
        judge = _Judge(self.rankings.positions[inside], shares)
        taus, expected = judge(predict(X))
        falls, expected_falls = np.zeros(X.shape), np.zeros(X.shape)
        for feature in range(X.shape[1]):
            shuffled = np.repeat(X[None], n_shuffles, axis=0)
            for copy in shuffled:
                copy[:, feature] = rng.permutation(copy[:, feature])
            found = predict(shuffled.reshape(-1, X.shape[1])).reshape(n_shuffles, len(X), n_items, n_items)
            both = np.mean([judge(pairwise) for pairwise in found], axis=0)
            falls[:, feature], expected_falls[:, feature] = taus - both[0], expected - both[1]
        return _Falls(falls, expected_falls, taus, judge(np.broadcast_to(shares, (len(X), n_items, n_items)))[0])


class _Falls(NamedTuple):
    """What shuffling does to held-out people: falls of tau and of expected tau, tau itself, and that of one ranking."""

    tau: FloatArray
    expected: FloatArray
    with_all: FloatArray
    one_for_all: FloatArray


def _importances(
    learner: _Learner, fold: Any, n_shuffles: int, rng: np.random.Generator, *, people: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean falls of tau over held-out people and their standard errors, then tau of each person with and without X."""
    folds = range(int(fold.max()) + 1)
    held_out = [learner.falls(fold != f, fold == f, n_shuffles, rng) for f in track(folds, "folds", len(folds))]
    falls, taus, constant = _in_order(fold, held_out)
    importance, error = _mean(falls, learner.rankings.weights, people)
    return importance, error * np.sqrt(_COUNTED_TWICE), taus, constant


def _in_order(fold: Any, held_out: Sequence[_Falls]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Falls of tau, tau, and that of one ranking for all, in the order of the people."""
    place = np.argsort(np.argsort(fold, kind="stable"), kind="stable")
    parts = zip(*((one.tau, one.with_all, one.one_for_all) for one in held_out), strict=True)
    falls, taus, constant = (np.concatenate(part)[place] for part in parts)
    return falls, taus, constant


def _progressive_p(
    learner: _Learner, fold: Any, n_shuffles: int, rng: np.random.Generator, *, people: bool
) -> FloatArray:
    """One-sided p-values of no fall of expected tau, not corrected; 1/2 for features that no ranker uses.

    Folds are predicted from those before them. So what a fold says is independent of what was learned, and each
    studentized mean is standard normal whatever the others were; if every fold were predicted from all others, the
    same luck would count in several of them, and too many features would be found.
    """
    from scipy.stats import norm, t

    weights = learner.rankings.weights
    total, squares = np.zeros(learner.features.values.shape[1]), 0.0
    for number in track(range(1, int(fold.max()) + 1), "tests", int(fold.max())):
        inside = fold == number
        falls = learner.falls(fold < number, inside, n_shuffles, rng).expected
        mean, error = _mean(falls, weights[inside], people)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(error > 0, mean / error, 0.0)
        # More was learned for the later folds, so these count more.
        total += np.sqrt(number) * norm.isf(t.sf(np.clip(ratio, -30, 30), max(inside.sum() - 1, 1)))
        squares += number
    return norm.sf(total / np.sqrt(squares))


class _Judge:
    """Tau, and expected tau, of pairwise probabilities with given rankings; NaN for rankings of ties alone.

    The expected tau counts by how much people differ from ``shares``, the preferences of those who were learned from.
    What all people share says nothing of a feature. With it, noise hid effects: of simulated useless features 2 to 4%
    were found at a level of 5%, and 4 to 6% without.
    """

    def __init__(self, positions: FloatArray, shares: FloatArray) -> None:
        self.first, self.second = np.triu_indices(positions.shape[1], 1)
        before = compare_positions(positions[:, self.first], positions[:, self.second])
        self.sign = np.where(np.isnan(before), 0.0, 2 * before - 1)
        self.own = np.where(np.isnan(before), 0.0, 2 * (before - shares[self.first, self.second]))
        strict = np.abs(self.sign).sum(axis=1)
        compared = (~np.isnan(before)).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.scale = np.where(strict > 0, 1 / np.sqrt(strict * compared), np.nan)

    def __call__(self, pairwise: FloatArray) -> tuple[FloatArray, FloatArray]:
        wins = pairwise.sum(axis=2)
        order = np.sign(wins[:, self.first] - wins[:, self.second])
        soft = 2 * pairwise[:, self.first, self.second] - 1
        return (self.sign * order).sum(axis=1) * self.scale, (self.own * soft).sum(axis=1) * self.scale


def _mean(values: FloatArray, weights: FloatArray, people: bool) -> tuple[FloatArray, FloatArray]:
    """Weighted mean of each column and its standard error, over the people who have a value; 0 if nobody has."""
    known = ~np.isnan(values[:, 0])
    if not known.any():
        return np.zeros(values.shape[1]), np.zeros(values.shape[1])
    values, weights = values[known], weights[known]
    total = weights.sum()
    mean = weights @ values / total
    squares = (values - mean) ** 2
    if people:
        return mean, np.sqrt(weights @ squares / total / max(total - 1, 1))
    return mean, np.sqrt(weights**2 @ squares) / total
