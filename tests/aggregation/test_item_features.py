"""Attributes of items: their likelihood, published values, items never ranked, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize

from rankwise import Rankings, load, save
from rankwise.aggregation import BestWorst, BradleyTerry, PlackettLuce, interactions
from tests.naive import choice as naive
from tests.strategies import KINDS, random_positions

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "choice_models.json").read_text("utf-8"))
Z = np.array([[0.5, 0.0], [0.5, 10.0], [1.0, 0.0], [0.0, 10.0]])


def simulated(n: int = 400, k: int = 4, d: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Rankings]:
    """(coefficients, attributes by ranking, rankings)."""
    rng = np.random.default_rng(seed)
    coefficients = np.linspace(1, -0.5, d)
    features = rng.normal(size=(n, k, d))
    utility = features @ coefficients + rng.gumbel(size=(n, k))
    return coefficients, features, Rankings(np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0)


def definition(positions: np.ndarray, weights: np.ndarray, features: np.ndarray, ties: np.ndarray):
    """Log likelihood as a function of the coefficients, by sums over all buckets."""

    def value(coefficients: np.ndarray) -> float:
        rows = zip(weights, positions, features, strict=True)
        return sum(w * naive.log_probability(row, z @ coefficients, ties) for w, row, z in rows if w > 0)

    return value


@pytest.mark.parametrize("by_ranking", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_is_the_maximum_of_the_definition(kind: str, by_ranking: bool) -> None:
    rng = np.random.default_rng(5)
    n, k, d = 20, 4, 2
    positions = random_positions(rng, n, k, kind)
    weights = rng.integers(0, 3, n).astype(float)
    features = rng.normal(size=(n, k, d)) if by_ranking else np.tile(rng.normal(size=(k, d)), (n, 1, 1))
    model = PlackettLuce().fit(positions, weights, item_features=features if by_ranking else features[0])
    sizes = np.flatnonzero(model.tie_strength_)

    def value(theta: np.ndarray) -> float:
        ties = np.zeros(len(model.tie_strength_))
        ties[sizes] = np.exp(theta[d:])
        return definition(positions, weights, features, ties)(theta[:d])

    start = np.zeros(d + len(sizes))
    found = minimize(lambda theta: -value(theta), start, method="BFGS", options={"gtol": 1e-6}).x
    np.testing.assert_allclose(model.coef_, found[:d], atol=1e-4)
    np.testing.assert_allclose(np.log(model.tie_strength_[sizes]), found[d:], atol=1e-4)
    theta = np.concatenate([model.coef_, np.log(model.tie_strength_[sizes])])
    assert model.log_likelihood_ == pytest.approx(value(theta))
    covariance = np.linalg.inv(naive.information(value, theta))
    np.testing.assert_allclose(model.coef_covariance_, covariance[:d, :d], rtol=1e-3, atol=1e-5)
    errors = np.sqrt(covariance.diagonal()[d:]) * model.tie_strength_[sizes]
    np.testing.assert_allclose(model.tie_strength_se_[sizes], errors, rtol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_repeated_for_each_ranking_are_those_of_the_items(kind: str) -> None:
    positions = random_positions(np.random.default_rng(0), 40, 4, kind)
    one = PlackettLuce().fit(positions, item_features=Z)
    other = PlackettLuce().fit(positions, item_features=np.tile(Z, (40, 1, 1)))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-6)
    np.testing.assert_allclose(other.coef_covariance_, one.coef_covariance_, rtol=1e-6)
    np.testing.assert_allclose(other.log_worth_, one.log_worth_, rtol=1e-6)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_)


def test_an_attribute_for_each_item_is_the_plain_model() -> None:
    _, _, rankings = simulated()
    plain = PlackettLuce().fit(rankings)
    dummies = PlackettLuce().fit(rankings, item_features=np.eye(4)[:, 1:])
    np.testing.assert_allclose(dummies.log_worth_, plain.log_worth_, atol=1e-7)
    np.testing.assert_allclose(dummies.covariance_, plain.covariance_, atol=1e-7)
    np.testing.assert_allclose(dummies.coef_, plain.log_worth_[1:] - plain.log_worth_[0], atol=1e-7)
    assert dummies.null_log_likelihood_ == plain.null_log_likelihood_


def test_blocks_of_rankings_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankwise.aggregation import _choice_moments

    _, features, rankings = simulated(50)
    whole = PlackettLuce().fit(rankings, item_features=features)
    monkeypatch.setattr(_choice_moments, "_BLOCK_ENTRIES", 7)
    blocks = PlackettLuce().fit(rankings, item_features=features)
    np.testing.assert_allclose(blocks.coef_covariance_, whole.coef_covariance_, rtol=1e-9)


def test_coefficients_are_found_within_their_errors() -> None:
    truth, features, rankings = simulated(3000, 6, 4)
    model = PlackettLuce().fit(rankings, item_features=features)
    assert np.all(np.abs(model.coef_ - truth) < 3.5 * model.coef_se_)
    top = Rankings(np.where(rankings.positions <= 2, rankings.positions, np.inf))
    model = PlackettLuce().fit(top, item_features=features)
    assert np.all(np.abs(model.coef_ - truth) < 3.5 * model.coef_se_)


def test_units_and_offsets_of_attributes_do_not_matter() -> None:
    _, features, rankings = simulated(100)
    model = PlackettLuce().fit(rankings, item_features=features)
    shift = np.random.default_rng(0).normal(size=(100, 1, 2)) * 1e6
    scaled = PlackettLuce().fit(rankings, item_features=features * [1e6, 1e-6] + shift * [1.0, 0.0])
    np.testing.assert_allclose(scaled.coef_ * [1e6, 1e-6], model.coef_, rtol=1e-5)
    np.testing.assert_allclose(scaled.coef_se_ * [1e6, 1e-6], model.coef_se_, rtol=1e-5)


# Published values


def test_the_dressings_of_critchlow_and_fligner(benchmark_data: Path) -> None:
    golden = GOLDEN["salad"]
    judges = pd.read_csv(benchmark_data / "rankings-with-covariates" / "prefmod_salad.csv.gz")
    dressings = pd.DataFrame({"acetic": golden["acetic"], "gluconic": golden["gluconic"]}, index=list("ABCD"))
    model = PlackettLuce().fit(judges, item_features=dressings)
    summary = model.summary()
    assert summary.names == ("acetic", "gluconic")
    np.testing.assert_allclose(model.coef_, golden["coefficients"], rtol=2e-4)
    np.testing.assert_allclose(model.coef_se_, golden["se"], rtol=3e-4)
    np.testing.assert_allclose(summary.z, golden["z"], atol=2e-3)
    assert -2 * model.log_likelihood_ == pytest.approx(golden["deviance"], abs=0.05)
    assert summary.aic == pytest.approx(golden["aic"], abs=0.05)


@pytest.mark.parametrize("kind", ["rank_ordered", "first_choice", "maxdiff", "sequential"])
def test_conditional_logits_of_statsmodels(kind: str) -> None:
    golden = GOLDEN["conditional_logit"]
    positions, features = np.array(golden["positions"], dtype=float), np.array(golden["features"])
    if kind == "first_choice":
        positions = np.where(positions == 1, 1.0, np.inf)
    model: PlackettLuce | BestWorst = PlackettLuce()
    if kind in ("maxdiff", "sequential"):
        model, positions = BestWorst(kind), np.where((positions > 1) & (positions < 4), 2.0, positions)
    model.fit(Rankings(positions), item_features=features)
    np.testing.assert_allclose(model.coef_, golden[kind]["coef"], atol=2e-5)
    np.testing.assert_allclose(model.coef_se_, golden[kind]["se"], atol=2e-5)
    assert model.log_likelihood_ == pytest.approx(golden[kind]["log_likelihood"], abs=1e-5)


# Choice sets, new items


def test_choices_from_sets_are_incomplete_top_1_rankings() -> None:
    rng = np.random.default_rng(3)
    n, k = 4000, 5
    features = np.column_stack([np.arange(k), np.arange(k) % 2])
    utility = features @ [0.4, -1.0] + rng.gumbel(size=(n, k))
    shown = np.argsort(rng.random((n, k)), axis=1)[:, :3]
    positions = np.full((n, k), np.nan)
    np.put_along_axis(positions, shown, np.inf, axis=1)
    best = np.take_along_axis(shown, np.take_along_axis(utility, shown, axis=1).argmax(axis=1)[:, None], axis=1)
    np.put_along_axis(positions, best, 1.0, axis=1)
    model = PlackettLuce().fit(positions, item_features=features)
    assert np.all(np.abs(model.coef_ - [0.4, -1.0]) < 3.5 * model.coef_se_)


def test_items_never_ranked_have_worths() -> None:
    _, _, rankings = simulated()
    attributes = np.arange(4.0)[:, None]
    model = PlackettLuce().fit(rankings, item_features={"size": attributes[:, 0]})
    np.testing.assert_allclose(model.predict_log_worth({"size": attributes[:, 0]}), model.log_worth_)
    new = model.predict_log_worth(np.array([[1.5], [6.0]]))
    np.testing.assert_allclose(new, [0.0, 4.5 * model.coef_[0]], atol=1e-12)
    by_ranking = model.predict_log_worth(np.array([[[1.5], [6.0]], [[2.5], [1.5]]]))
    np.testing.assert_allclose(by_ranking, [[0.0, 4.5 * model.coef_[0]], [model.coef_[0], 0.0]], atol=1e-12)
    # An item that no ranking holds takes part by its attributes.
    more = Rankings(np.column_stack([rankings.positions, np.full(len(rankings), np.nan)]))
    known = PlackettLuce().fit(more, item_features={"size": [0.0, 1.0, 2.0, 3.0, 6.0]})
    assert known.coef_ == pytest.approx(model.coef_)
    assert known.log_worth_[4] - known.log_worth_[0] == pytest.approx(6 * model.coef_[0])


def test_probabilities_with_attributes_are_those_of_the_definition() -> None:
    _, features, rankings = simulated(30)
    for data in (rankings, Rankings(np.ceil(rankings.positions / 2))):
        model = PlackettLuce(alpha=0.1).fit(data, item_features=features)
        expected = [
            naive.log_probability(row, z @ model.coef_, model.tie_strength_)
            for row, z in zip(data.positions, features, strict=True)
        ]
        np.testing.assert_allclose(model.logpmf(data, item_features=features), expected)
        assert model.logpmf(data, item_features=features).sum() == pytest.approx(model.log_likelihood_)
        np.testing.assert_allclose(model.logpmf(data, item_features=features[0])[0], expected[0])
    with pytest.raises(ValueError, match=r"attributes for 3 items, but the rankings are 30 x 4"):
        model.logpmf(rankings, item_features=features[0, :3])


def test_bradley_terry_with_attributes_is_plackett_luce_of_pairs() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(1, 20, (4, 4)).astype(float)
    np.fill_diagonal(wins, 0.0)
    frame = pd.DataFrame(Z, columns=["acetic", "gluconic"])
    model = BradleyTerry().fit(wins, item_features=frame)
    rows, weights = [], []
    for i, j in zip(*np.nonzero(wins), strict=True):
        row = np.full(4, np.nan)
        row[[i, j]] = 1.0, 2.0
        rows.append(row)
        weights.append(wins[i, j])
    other = PlackettLuce().fit(np.array(rows), weights, item_features=frame)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.coef_covariance_, other.coef_covariance_, rtol=1e-6)
    assert model.log_likelihood_ == pytest.approx(other.log_likelihood_)
    assert model.summary().names == ("acetic", "gluconic")
    assert model.summary().bic == pytest.approx(other.summary().bic)
    with pytest.raises(ValueError, match=r"differs between comparisons.*use PlackettLuce"):
        BradleyTerry().fit(wins, item_features=np.zeros((16, 4, 1)))


# Forms and names


def test_all_forms_of_attributes_are_the_same() -> None:
    _, _, rankings = simulated(50)
    named = Rankings(rankings.positions, items=list("abcd"))
    frame = pd.DataFrame(Z, columns=["acid", "sugar"])
    expected = PlackettLuce().fit(named, item_features=Z)
    assert expected.feature_names_ == ("z0", "z1")
    forms = [
        frame,
        pl.DataFrame(frame.to_dict("list")),
        {"acid": Z[:, 0], "sugar": Z[:, 1].tolist()},
        {"acid": Z[:, 0], "sugar": np.tile(Z[:, 1], (50, 1))},
        frame.set_axis(list("abcd"), axis=0),
        frame.set_axis(list("abcd"), axis=0).loc[list("dbac")],
    ]
    for form in forms:
        model = PlackettLuce().fit(named, item_features=form)
        assert model.feature_names_ == ("acid", "sugar")
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)


def test_booleans_are_zero_and_one() -> None:
    _, _, rankings = simulated(50)
    truth = PlackettLuce().fit(rankings, item_features={"hot": [1.0, 0.0, 0.0, 0.0]})
    for frame in (
        pd.DataFrame({"hot": [True, False, False, False]}),
        pl.DataFrame({"hot": [True, False, False, False]}),
    ):
        np.testing.assert_array_equal(PlackettLuce().fit(rankings, item_features=frame).coef_, truth.coef_)


def test_interactions_multiply_people_and_attributes() -> None:
    X = pd.DataFrame({"age": [20.0, 30.0], "male": [0, 1]})
    both = interactions(X, {"price": [1.0, 2.0, 3.0]})
    assert list(both) == ["price", "age:price", "male:price"]
    np.testing.assert_array_equal(both["age:price"], [[20, 40, 60], [30, 60, 90]])
    assert list(interactions(X, {"price": [1.0, 2.0, 3.0]}, main=False)) == ["age:price", "male:price"]
    by_person = interactions(X, {"price": [[1.0, 2.0], [3.0, 4.0]]})
    np.testing.assert_array_equal(by_person["age:price"], [[20, 40], [90, 120]])
    with pytest.raises(ValueError, match="X has no number for age in row 1"):
        interactions(pd.DataFrame({"age": [1.0, np.nan]}), Z)
    with pytest.raises(ValueError, match="X has 2 rows and item_features 3 rankings"):
        interactions(X, np.zeros((3, 2, 1)))


def test_interactions_are_found() -> None:
    rng = np.random.default_rng(2)
    x, price = rng.normal(size=2000), np.array([1.0, 2.0, 4.0])
    utility = (0.5 - 0.7 * x)[:, None] * price + rng.gumbel(size=(2000, 3))
    positions = np.argsort(np.argsort(-utility, axis=1), axis=1) + 1.0
    model = PlackettLuce().fit(positions, item_features=interactions(x[:, None], {"price": price}))
    assert np.all(np.abs(model.coef_ - [0.5, -0.7]) < 3.5 * model.coef_se_)


def test_a_second_fit_forgets_the_first() -> None:
    _, features, rankings = simulated(50)
    model = PlackettLuce().fit(rankings, item_features=features)
    model.fit(rankings)
    assert not hasattr(model, "coef_")
    with pytest.raises(ValueError, match="fitted without item_features"):
        model.predict_log_worth(Z)


# Bad input


def test_constant_collinear_and_separating_attributes_are_named() -> None:
    _, features, rankings = simulated(60)
    age = np.repeat(np.random.default_rng(0).normal(size=60)[:, None], 4, axis=1)
    with pytest.raises(ValueError, match="attribute age is the same for all items that are compared"):
        PlackettLuce().fit(rankings, item_features={"x": features[..., 0], "age": age})
    values = {"a": features[..., 0], "b": features[..., 1], "c": 3 * features[..., 0] + age}
    with pytest.raises(ValueError, match=r"attributes a, c are collinear.*alpha"):
        PlackettLuce().fit(rankings, item_features=values)
    with pytest.raises(ValueError, match="attributes z0, z1, z2, z3 are collinear"):
        PlackettLuce().fit(rankings, item_features=np.eye(4))
    places = {"place": -rankings.positions, "x": features[..., 0]}
    with pytest.raises(ValueError, match=r"with attribute place all choices can be foretold.*separation.*alpha=0\.1"):
        PlackettLuce().fit(rankings, item_features=places)
    with pytest.raises(ValueError, match="separation"):
        BestWorst().fit([[1, 2, 3], [1, 2, np.nan], [np.nan, 1, 2]], item_features=[[3.0], [2.0], [0.0]])
    with pytest.raises(ValueError, match="separation"):
        BradleyTerry().fit([[0, 3, 1], [0, 0, 2], [0, 0, 0]], item_features=[[3.0], [2.0], [0.0]])
    model = PlackettLuce(alpha=0.1).fit(rankings, item_features=places)
    assert np.isfinite(model.coef_).all()


def test_with_a_prior_a_note_names_attributes_whose_coefficients_are_the_prior(tmp_path: Path) -> None:
    _, features, rankings = simulated(60)
    age = np.repeat(np.random.default_rng(0).normal(size=60)[:, None], 4, axis=1)
    x, z = features[..., 0], features[..., 1]
    model = PlackettLuce(alpha=0.1)
    assert model.fit(rankings, item_features={"x": x, "z": z}).summary().notes == ()
    constant, collinear = model.fit(rankings, item_features={"x": x, "age": age, "z": z, "twin": 3 * x}).summary().notes
    assert constant.startswith("attribute age is the same for all items that are compared with each other: the coeffic")
    assert collinear.startswith("attributes x, twin are collinear")
    assert "Attribute age is the same" in str(model.summary())
    save(model, tmp_path / "model.rw")
    assert load(tmp_path / "model.rw").summary().notes == (constant, collinear)
    assert model.fit(rankings).summary().notes == ()
    duels, choices = [[0, 3, 1], [1, 0, 2], [1, 1, 0]], [[1, 2, 3], [1, 2, np.nan], [np.nan, 2, 1]]
    for other, data in ((BradleyTerry(alpha=0.1), duels), (BestWorst(alpha=0.1), choices)):
        (note,) = other.fit(data, item_features={"x": [3.0, 2.0, 0.0], "same": [1.0, 1.0, 1.0]}).summary().notes
        assert note.startswith("attribute same is the same")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros((3, 2)), "attributes for 3 items, but there are 4"),
        (np.zeros((5, 4, 2)), "attributes for 5 x 4 rankings x items, but there are 6 x 4"),
        (np.zeros(4), "1 dimension"),
        (np.empty((4, 0)), "no attributes"),
        ({}, "no attributes"),
        ({"a": np.zeros(4), "b": np.zeros(3)}, r"different shapes: a \(4,\), b \(3,\)"),
        ({"a": np.zeros((1, 2, 3))}, "3 dimensions"),
        ({"a": ["x", "y", "z", "w"]}, "give numbers"),
        (pd.DataFrame({"color": ["red", "blue", "red", "red"]}), "column color of item_features does not hold numbers"),
        (pd.DataFrame({"a": [1.0, 2, 3, 4]}, index=list("wxyz")), "rows of item_features are named w, x, y, z"),
        ([[1.0], [np.nan], [2.0], [3.0]], "no number for z0 of item 1"),
        (np.where(np.arange(24).reshape(6, 4, 1) == 5, np.nan, 1.0), "no number for z0 of item 1 in ranking 1"),
    ],
)
def test_bad_attributes(features: object, message: str) -> None:
    rankings = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1], [1, 2, 4, 3], [2, 1, 4, 3], [3, 4, 1, 2], [3, 2, 1, 4]])
    with pytest.raises((ValueError, TypeError), match=message):
        PlackettLuce().fit(rankings, item_features=features)


def test_attributes_of_items_that_are_not_shown_may_be_missing() -> None:
    _, features, rankings = simulated(40)
    positions = rankings.positions.copy()
    positions[:, 3] = np.where(np.arange(40) % 2, np.nan, positions[:, 3])
    gaps = np.where(np.isnan(positions)[..., None], np.nan, features)
    model = PlackettLuce().fit(Rankings(positions), item_features=gaps)
    np.testing.assert_array_equal(model.coef_, PlackettLuce().fit(Rankings(positions), item_features=features).coef_)
    assert np.isfinite(model.logpmf(Rankings(positions), item_features=gaps)).all()
    more = np.column_stack([rankings.positions, np.full(40, np.nan)])
    with pytest.raises(ValueError, match="lacks numbers for 4, which nobody ranked"):
        PlackettLuce().fit(more, item_features=[*Z.tolist(), [np.nan, 1.0]])


def test_rankings_of_weight_zero_need_no_attributes() -> None:
    _, features, rankings = simulated(40)
    weights = (np.arange(40) % 4 > 0).astype(float)
    gaps = np.where(weights[:, None, None] == 0, np.nan, features)
    model = PlackettLuce().fit(rankings, weights, item_features=gaps)
    kept = weights > 0
    np.testing.assert_allclose(model.coef_, PlackettLuce().fit(rankings[kept], item_features=features[kept]).coef_)


def test_other_attributes_than_those_of_the_fit_are_refused() -> None:
    _, _, rankings = simulated(40)
    model = PlackettLuce().fit(rankings, item_features={"acid": Z[:, 0], "sugar": Z[:, 1]})
    with pytest.raises(ValueError, match=r"3 attributes \(z0, z1, z2\), but the fit had 2: acid, sugar; give the same"):
        model.predict_log_worth(np.zeros((2, 3)))
    swapped = model.predict_log_worth({"sugar": [1.0], "acid": [2.0]})
    np.testing.assert_array_equal(swapped, model.predict_log_worth([[2.0, 1.0]]))
    with pytest.raises(ValueError, match="sugar, salt"):
        model.predict_log_worth({"sugar": [1.0], "salt": [2.0]})
    with pytest.raises(ValueError, match="prior_law is 'gamma'"):
        PlackettLuce(alpha=1.0, prior_law="gamma").fit(rankings, item_features=Z)
    with pytest.raises(ValueError, match="ref is for the worths of items"):
        model.summary(ref=0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_new_item_without_an_attribute_has_no_worth(value: float) -> None:
    model = PlackettLuce().fit([[1, 2, 3], [2, 1, 3], [1, 3, 2], [3, 2, 1]], item_features=[[1.0], [2.0], [4.0]])
    with pytest.raises(ValueError, match="in row 1, attribute 'z0'"):
        model.predict_log_worth([[3.0], [value]])
