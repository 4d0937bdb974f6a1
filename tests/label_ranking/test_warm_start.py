"""Fits that continue: the same trees as of one fit, and clear refusals of what cannot be continued."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import rankwise
from rankwise import Rankings
from rankwise.label_ranking import BoostedRanker, RankingForest
from tests.label_ranking.test_explanations import make_data

CONTINUED = [
    RankingForest(random_state=0),
    RankingForest(random_state=0, oob_score=True, min_samples_leaf=3),
    RankingForest(random_state=0, sketch=3, splitter="best", max_features=0.5),
    RankingForest(random_state=0, focus="pair", oob_score=True),
    RankingForest(random_state=0, pool="rankings", honest=True, bootstrap=False, max_samples=0.7),
    BoostedRanker(early_stopping=False),
    BoostedRanker(early_stopping=False, loss="plackett_luce", subsample=0.6, max_features=0.5, random_state=2),
    BoostedRanker(early_stopping=True, n_iter_no_change=3, learning_rate=0.7, random_state=1),
    BoostedRanker(early_stopping=True, subsample=0.8, random_state=1),
]


@pytest.mark.parametrize("ranker", CONTINUED, ids=repr)
@pytest.mark.parametrize("steps", [(4, 13), (1, 6, 13)], ids=str)
def test_continued_fits_are_one_fit_bit_by_bit(ranker, steps):
    X, y = make_data(150, gaps=isinstance(ranker, BoostedRanker))
    whole = clone(ranker).set_params(n_estimators=13).fit(X, y)
    parts = clone(ranker).set_params(warm_start=True)
    for n in steps:
        before = list(getattr(parts, "trees_", []))
        parts.set_params(n_estimators=n).fit(X, y)
        assert parts.trees_[: len(before)] == before  # the very same objects
    assert len(parts.trees_) == len(whole.trees_)
    np.testing.assert_array_equal(parts.predict_pairwise(X), whole.predict_pairwise(X))
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    for name in ("oob_score_", "calibration_", "history_"):
        assert getattr(parts, name, None) == getattr(whole, name, None)


def test_trees_that_are_drawn_anew_are_judged_by_their_own_rows():
    """Without a seed the kept trees are not grown again, but which rows they have seen is known."""
    X, y = make_data(150)
    for state in (None, np.random.default_rng(0)):
        forest = RankingForest(10, warm_start=True, oob_score=True, random_state=state).fit(X, y)
        first = list(forest.trees_)
        seeds = forest._seeds
        forest.set_params(n_estimators=60).fit(X, y)
        assert forest.trees_[:10] == first
        np.testing.assert_array_equal(forest._seeds[:10], seeds)
        assert len(np.unique(forest._seeds)) == 60
        # In bag the score is nearly that of the training rows; seeds of others would let rows in that trees have seen.
        assert forest.oob_score_ < forest.score(X, y) - 0.1


@pytest.mark.parametrize("ranker", [RankingForest(4, random_state=0), BoostedRanker(4)], ids=repr)
def test_fits_without_it_start_again(ranker):
    X, y = make_data(80)
    ranker = clone(ranker).fit(X, y)
    trees = ranker.trees_
    ranker.fit(X, y)
    assert not any(tree is other for tree in trees for other in ranker.trees_)
    ranker.set_params(warm_start=True)
    with pytest.raises(ValueError, match=r"grown without it.*fit again with warm_start=True from the start"):
        ranker.fit(X, y)


@pytest.mark.parametrize(
    "ranker", [RankingForest(4, random_state=0, warm_start=True), BoostedRanker(4, warm_start=True)], ids=repr
)
def test_what_cannot_be_continued_is_named(ranker):
    X, y = make_data(80)
    fitted = clone(ranker).fit(X, y)
    expected = fitted.predict_pairwise(X)

    def refuses(message, *data, **params):
        before = fitted.get_params()
        with pytest.raises(ValueError, match=message):
            fitted.set_params(**params).fit(*(data or (X, y)))
        fitted.set_params(**before)
        np.testing.assert_array_equal(fitted.predict_pairwise(X), expected)

    refuses("n_estimators is 3, but warm_start keeps the 4 trees", n_estimators=3)
    refuses("min_samples_leaf is 7, but the 4 trees that warm_start keeps were grown with", min_samples_leaf=7)
    refuses("random_state is 5, but the 4 trees", random_state=5)
    refuses("adds others on the same rows, but X, y or the weights", X[:79], y[:79], n_estimators=9)
    refuses("adds others on the same rows, but X, y or the weights", X, y[::-1], n_estimators=9)
    refuses("adds others on the same rows", X, y, np.arange(80) % 2 + 1.0)
    refuses("the items of y are a, b, c, d, but those of the fit", X, Rankings(y.positions, items=list("abcd")))
    refuses("feature names should match", X[X.columns[::-1]], y)
    fitted.set_params(n_estimators=6).fit(X, y)
    assert len(fitted.trees_) == 6


def test_what_needs_whole_fits_or_the_same_numbers_is_refused():
    X, y = make_data(80)
    with pytest.raises(ValueError, match="focus is 'auto', which chooses between whole forests"):
        RankingForest(4, focus="auto", warm_start=True).fit(X, y)
    ranker = BoostedRanker(4, early_stopping=True, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="early stopping needs a number as random_state"):
        ranker.set_params(n_estimators=9).fit(X, y)


@pytest.mark.parametrize("ranker", [RankingForest(4, random_state=0), BoostedRanker(4)], ids=repr)
def test_saved_rankers_continue(ranker, tmp_path):
    X, y = make_data(80)
    rankwise.save(clone(ranker).set_params(warm_start=True).fit(X, y), tmp_path / "model.rankwise")
    loaded = rankwise.load(tmp_path / "model.rankwise").set_params(n_estimators=9).fit(X, y)
    whole = clone(ranker).set_params(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(loaded.predict_pairwise(X), whole.predict_pairwise(X))
