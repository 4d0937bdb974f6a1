"""What every model of rankings promises: five questions, scikit-learn's parameters, and clear errors."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rankwise import Rankings
from rankwise.aggregation import (
    BradleyTerry,
    GeneralizedMallows,
    Mallows,
    MallowsMixture,
    PlackettLuce,
    PlackettLuceMixture,
    sample_mallows,
)

NAMES = ["a", "b", "c", "d"]
VOTES = Rankings(sample_mallows([2, 4, 1, 3], 0.7, 40, random_state=0), items=NAMES)


def in_pairs(rankings: Rankings) -> Rankings:
    """Comparisons of two items, all pairs in turn, as the rankings order them."""
    positions = np.full(rankings.positions.shape, np.nan)
    for number, row in enumerate(rankings.positions):
        pair = [number % 4, (number + 1 + number // 4 % 3) % 4]
        positions[number, pair] = row[pair]
    return Rankings(positions, items=rankings.items)


PAIRS = in_pairs(VOTES)
MODELS = [
    *(pytest.param(Mallows(distance), VOTES, id=distance) for distance in ("kendall", "cayley", "hamming")),
    *(pytest.param(Mallows(distance), VOTES, id=distance) for distance in ("footrule", "spearman")),
    pytest.param(Mallows(center=[2, 4, 1, 3]), VOTES, id="given center"),
    pytest.param(GeneralizedMallows(), VOTES, id="generalized"),
    pytest.param(MallowsMixture(n_init=1, tol=1e-3, random_state=0), VOTES, id="mixture"),
    pytest.param(MallowsMixture(n_init=1, random_state=0, distance="footrule"), VOTES, id="footrule mixture"),
    pytest.param(PlackettLuceMixture(n_init=1, random_state=0), VOTES, id="Plackett-Luce mixture"),
    pytest.param(PlackettLuce(), VOTES, id="Plackett-Luce"),
    pytest.param(PlackettLuce(alpha=0.5, prior_law="gamma"), VOTES, id="gamma prior"),
    pytest.param(BradleyTerry(), PAIRS, id="Bradley-Terry"),
]
QUESTIONS = {
    "sample": lambda model: model.sample(2),
    "logpmf": lambda model: model.logpmf([[1, 2, np.nan, np.nan]]),
    "mode": lambda model: model.mode(),
    "pairwise_probabilities": lambda model: model.pairwise_probabilities(),
}


all_models = pytest.mark.parametrize(("model", "rankings"), MODELS)


@all_models
def test_every_model_answers_the_same_questions(model, rankings):
    fitted = clone(model).fit(rankings)
    assert fitted.items_ == tuple(NAMES)
    mode = fitted.mode()
    assert sorted(mode) == [1, 2, 3, 4]
    probability = fitted.pairwise_probabilities()
    np.testing.assert_allclose(probability + probability.T, 1)
    np.testing.assert_allclose(np.diag(probability), 0.5)
    log_probability = fitted.logpmf(rankings)
    assert log_probability.shape == (40,)
    assert np.all(log_probability < 0)
    assert log_probability.sum() == pytest.approx(fitted.log_likelihood_)
    draws = fitted.sample(3, random_state=1)
    assert isinstance(draws, Rankings)
    assert (draws.shape, draws.items) == ((3, 4), tuple(NAMES))
    assert draws == fitted.sample(3, random_state=1)
    assert fitted.sample(0).shape == (0, 4)
    assert fitted.sample().shape == (1, 4)


@all_models
def test_pairs_of_draws_have_the_pairwise_probabilities(model, rankings):
    fitted = clone(model).fit(rankings)
    draws = fitted.sample(20_000, random_state=2).positions
    for i, j in ((0, 1), (0, 3), (1, 2)):
        met = ~np.isnan(draws[:, i]) & ~np.isnan(draws[:, j])
        p = fitted.pairwise_probabilities()[i, j]
        assert abs(np.mean(draws[met, i] < draws[met, j]) - p) < 4 * np.sqrt(p * (1 - p) / met.sum())


@all_models
def test_parameters_are_scikit_learns(model, rankings):
    model = clone(model)
    names = list(inspect.signature(type(model).__init__).parameters)[1:]
    parameters = model.get_params()
    assert sorted(parameters) == sorted(names)
    assert vars(model) == parameters  # nothing but its arguments
    assert model.fit(rankings) is model
    assert {name: vars(model)[name] for name in names} == parameters  # fit leaves them alone
    learned = set(vars(model)) - set(names)
    assert all(name.endswith("_") or name.startswith("_") for name in learned)
    fresh = clone(model)
    assert vars(fresh) == parameters
    name, value = next(iter(parameters.items()))
    assert fresh.set_params(**{name: "other"}) is fresh
    assert getattr(fresh, name) == "other"
    assert getattr(model, name) == value
    with pytest.raises(ValueError, match="Invalid parameter"):
        fresh.set_params(color="red")


def test_a_given_center_is_cloned():
    center = np.array([2.0, 1.0, 3.0])
    copy = clone(Mallows(theta=1.0, center=center))
    assert copy.center is not center
    np.testing.assert_array_equal(copy.mode(), center)


@all_models
def test_a_pickled_model_gives_the_same_answers(model, rankings):
    fitted = clone(model).fit(rankings)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.logpmf(rankings), fitted.logpmf(rankings))
    np.testing.assert_array_equal(again.pairwise_probabilities(), fitted.pairwise_probabilities())
    assert again.sample(5, random_state=0) == fitted.sample(5, random_state=0)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Mallows(), "Mallows()"),
        (Mallows("cayley", theta=1.0), "Mallows(distance='cayley', theta=1.0)"),
        (GeneralizedMallows([1, 2]), "GeneralizedMallows(center=[1, 2])"),
        (MallowsMixture(3), "MallowsMixture(n_components=3)"),
        (PlackettLuce(alpha=2), "PlackettLuce(alpha=2)"),
        (BradleyTerry(ties="half"), "BradleyTerry(ties='half')"),
    ],
)
def test_repr_shows_what_was_given(model, text):
    assert repr(model) == text


@pytest.mark.parametrize("question", QUESTIONS)
@all_models
def test_nothing_is_known_before_fit(model, rankings, question):
    with pytest.raises(NotFittedError, match=f"this {type(model).__name__} is not fitted; call fit first"):
        QUESTIONS[question](clone(model))


@all_models
def test_frames_arrays_and_rankings_say_the_same(model, rankings):
    first = clone(model).fit(rankings)
    if isinstance(model, BradleyTerry):
        return  # an array is a matrix of wins there
    frame = clone(model).fit(pd.DataFrame(rankings.positions, columns=NAMES))
    array = clone(model).fit(rankings.positions)
    assert frame.items_ == first.items_
    assert array.items_ == (0, 1, 2, 3)
    assert first.log_likelihood_ == frame.log_likelihood_ == array.log_likelihood_


@all_models
def test_a_voter_who_ranked_nothing_changes_nothing(model, rankings):
    silent = Rankings(np.vstack([rankings.positions, np.full((2, 4), np.nan)]), items=NAMES)
    plain, more = clone(model).fit(rankings), clone(model).fit(silent)
    assert more.log_likelihood_ == pytest.approx(plain.log_likelihood_)
    np.testing.assert_allclose(more.pairwise_probabilities(), plain.pairwise_probabilities(), atol=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * 39, r"sample_weight\[0\] is -1; weights are finite and not negative"),
        ([1.0] * 39 + [np.nan], r"sample_weight\[39\] is nan"),
        ([np.inf] * 40, r"sample_weight\[0\] is inf"),
        ([1.0, 2.0], r"sample_weight has shape \(2,\), but there are 40 rankings"),
        (["heavy"] * 40, "sample_weight must be numbers"),
    ],
)
@all_models
def test_bad_weights(model, rankings, weights, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(rankings, sample_weight=weights)


@all_models
def test_an_item_that_nobody_ranked_is_named(model, rankings):
    more = Rankings(np.column_stack([rankings.positions, np.full(40, np.nan)]), items=[*NAMES, "nobody"])
    if getattr(model, "alpha", 0) > 0:
        fitted = clone(model).fit(more)
        if isinstance(model, PlackettLuceMixture):
            assert np.abs(fitted.log_worths_[:, -1]).max() < 1e-6  # that of the average item
        else:
            assert fitted.components_ == (tuple(NAMES), ("nobody",))
        return
    model = clone(model)
    if getattr(model, "center", None) is not None:
        model.set_params(center=None)
    with pytest.raises(ValueError, match="nobody"):
        model.fit(more)


@all_models
def test_rankings_of_other_items_are_refused(model, rankings):
    fitted = clone(model).fit(rankings)
    with pytest.raises(ValueError, match="the rankings have 3 items, but the model knows 4"):
        fitted.logpmf([[1, 2, np.nan]])
    turned = rankings.select(["d", "c", "b", "a"])
    with pytest.raises(ValueError, match=r"have the items d, c, b, a, but the model knows a, b, c, d.*select"):
        fitted.logpmf(turned)
    unnamed = clone(model).fit(Rankings(rankings.positions))
    np.testing.assert_array_equal(unnamed.logpmf(rankings), fitted.logpmf(rankings))


@all_models
def test_bad_numbers_of_draws(model, rankings):
    fitted = clone(model).fit(rankings)
    with pytest.raises(ValueError, match="n is -1, but must be at least 0"):
        fitted.sample(-1)
    with pytest.raises(TypeError, match=r"n is 2\.0; give a whole number"):
        fitted.sample(2.0)
    with pytest.raises(TypeError, match="random_state is of type str"):
        fitted.sample(2, random_state="seed")
