from __future__ import annotations

import numpy as np
import pytest

from rankwise.datasets import make_retrieval


def ndcg_at_10(y, score, qid):
    values = []
    for query in np.unique(qid):
        grades = y[qid == query]
        found = grades[np.argsort(-score[qid == query])][:10]
        ideal = np.sort(grades)[::-1][:10]
        discount = 1 / np.log2(np.arange(2, len(ideal) + 2))
        if ideal.any():
            values.append(np.sum(found * discount) / np.sum(ideal * discount))
    return np.mean(values)


def centered(values, qid):
    return np.vstack([values[qid == query] - values[qid == query].mean(axis=0) for query in np.unique(qid)])


def test_shapes_and_groups():
    X, y, qid, bunch = make_retrieval(40, 7, docs_per_query=(3, 9), random_state=0)
    assert X.shape == (len(y), 7)
    assert len(y) == len(qid) == len(bunch.score)
    assert np.all(np.diff(qid) >= 0)
    sizes = np.bincount(qid)[1:]
    assert len(sizes) == 40
    assert (sizes.min(), sizes.max()) == (3, 9)


def test_each_grade_is_half_as_frequent_as_the_one_below():
    y = make_retrieval(300, n_grades=4, random_state=0)[1]
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(share, np.array([8, 4, 2, 1]) / 15, atol=0.002)


def test_a_higher_score_has_a_higher_grade():
    _, y, _, bunch = make_retrieval(noise=0.0, random_state=0)
    assert np.all(np.diff(y[np.argsort(bunch.score)]) >= 0)


def test_knowing_the_queries_helps():
    X, y, qid, bunch = make_retrieval(200, random_state=0)
    train = qid <= 100
    pooled = np.linalg.lstsq(np.column_stack([np.ones(train.sum()), X[train]]), y[train], rcond=None)[0][1:]
    grades = centered(y[train, None].astype(float), qid[train])[:, 0]
    within = np.linalg.lstsq(centered(X[train], qid[train]), grades, rcond=None)[0]
    blind, aware, best = (
        ndcg_at_10(y[~train], score[~train], qid[~train]) for score in (X @ pooled, X @ within, bunch.score)
    )
    assert blind + 0.03 < aware < best < 1


@pytest.mark.parametrize("eta", [0, 0.5, 1.0, 2.0])
def test_clicks_follow_examination_and_relevance(eta):
    X, y, qid, bunch = make_retrieval(2000, docs_per_query=(8, 8), clicks=True, eta=eta, random_state=0)
    assert set(np.unique(bunch.clicks)) == {0, 1}
    for query in (1, 2000):
        assert sorted(bunch.displayed[qid == query]) == list(range(1, 9))
    np.testing.assert_allclose(bunch.propensities, [1 / place**eta for place in bunch.displayed.tolist()])
    # Clicks weighted by the inverse propensity are free of the position: their mean is the attraction of the grade.
    for grade in range(5):
        rows = y == grade
        attraction = 0.05 + 0.95 * (2**grade - 1) / 15
        estimate = bunch.clicks[rows] / bunch.propensities[rows]
        assert abs(estimate.mean() - attraction) <= 5 * estimate.std() / np.sqrt(rows.sum())
    plain = make_retrieval(2000, docs_per_query=(8, 8), random_state=0)
    assert np.array_equal(plain[0], X)
    assert np.array_equal(plain[1], y)
    assert "clicks" not in plain[3]


def test_displayed_places_count_within_each_query_and_favour_good_documents():
    _, y, qid, bunch = make_retrieval(200, clicks=True, random_state=0)
    for query in np.unique(qid):
        places = bunch.displayed[qid == query]
        assert sorted(places) == list(range(1, len(places) + 1))
    depth = [bunch.displayed[y == grade].mean() for grade in range(5)]
    assert np.all(np.diff(depth) < 0)


def test_same_seed_same_data():
    first, second, other = (make_retrieval(5, random_state=s) for s in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first[:3], second[:3], strict=True))
    assert first[0].shape != other[0].shape or not np.array_equal(first[0], other[0])


def test_a_single_feature_will_do():
    assert make_retrieval(3, 1, random_state=0)[0].shape[1] == 1


LINKS = ("products", "linear", "saturating", "steps", "peaked")


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("family", ["plain", "judged"])
def test_scores_have_unit_variance_beside_the_easiness_of_queries(family, link):
    _, y, qid, bunch = make_retrieval(600, 20, family=family, link=link, docs_per_query=(30, 30), random_state=0)
    within = centered(bunch.score[:, None], qid)
    assert within.std() == pytest.approx(1, abs=0.3)  # products and few qualities vary
    shares = np.bincount(y) / len(y)
    ratio = 0.5 if family == "plain" else 0.25
    np.testing.assert_allclose(shares[1:] / shares[:-1], ratio, rtol=0.05)


def test_links_of_a_feature_are_what_they_are_called():
    """With one feature and no noise the score is its function: a line, a step of two values, a bell with one top."""
    options = {"docs_per_query": (300, 300), "noise": 0.0, "random_state": 3}
    for link in ("linear", "saturating", "steps", "peaked"):
        X, _, _, bunch = make_retrieval(1, 1, link=link, **options)
        ordered = bunch.score[np.argsort(X[:, 0])]
        steps = np.diff(ordered)
        changes = np.sum(np.diff(np.sign(steps[abs(steps) > 1e-12])) != 0)
        assert changes == (1 if link == "peaked" else 0)
        assert (len(np.unique(ordered.round(9))) == 2) == (link == "steps")


def test_judged_features_are_weak_tied_and_within_0_and_1_of_each_query():
    X, _, qid, bunch = make_retrieval(300, 40, family="judged", link="linear", n_irrelevant=10, random_state=0)
    starts = np.append(True, np.diff(qid) != 0).nonzero()[0]
    assert (np.minimum.reduceat(X, starts) == 0).all()
    assert set(np.unique(np.maximum.reduceat(X, starts))) <= {0.0, 1.0}  # 0 where a feature is the same everywhere
    assert len(np.unique(X)) <= 101  # two digits
    assert (X == 0).mean(axis=0).max() > 0.5  # absent words
    within = centered(bunch.score[:, None], qid)[:, 0]
    related = np.array([abs(np.corrcoef(within, column)[0, 1]) for column in X.T])
    assert related.max() < 0.6
    assert related[-10:].max() < 0.06 < related[:30].mean()


def test_wrong_grades_are_those_of_other_documents():
    plain, wrong, all_wrong = (make_retrieval(300, wrong_grades=share, random_state=0)[1] for share in (0.0, 0.3, 1.0))
    differ = np.mean(plain != wrong)
    np.testing.assert_allclose(differ, 0.3 * (1 - np.sum((np.bincount(plain) / len(plain)) ** 2)), atol=0.02)
    assert abs(np.corrcoef(plain, all_wrong)[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"family": "search"}, "family is 'search'; choose 'plain' or 'judged'"),
        ({"link": "cubic"}, "link is 'cubic'"),
        ({"n_irrelevant": 20}, "n_irrelevant is 20, but must be below n_features=20"),
        ({"wrong_grades": 1.5}, "wrong_grades is 1.5; give a share from 0 to 1"),
        ({"n_queries": 0}, "n_queries is 0"),
        ({"n_grades": 1}, "n_grades is 1, but must be at least 2"),
        ({"docs_per_query": (9, 3)}, r"docs_per_query is \(9, 3\)"),
        ({"docs_per_query": (0, 3)}, r"docs_per_query\[0\] is 0, but must be at least 1"),
        ({"docs_per_query": 5}, "docs_per_query is 5; give the least and the largest number"),
        ({"docs_per_query": (1, 2, 3)}, r"docs_per_query is \(1, 2, 3\); give the least"),
        ({"noise": -1}, "noise is -1"),
        ({"noise": np.inf}, "noise is inf, but must be finite"),
        ({"eta": np.nan}, "eta is nan"),
        ({"eta": np.inf}, "eta is inf, but must be finite"),
    ],
)
def test_bad_arguments(arguments, fragment):
    with pytest.raises(ValueError, match=fragment):
        make_retrieval(**arguments)


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ({"n_queries": 3.0}, "n_queries is 3.0; give a whole number, 1 or more"),
        ({"n_grades": "5"}, "n_grades is '5'; give a whole number, 2 or more"),
        ({"docs_per_query": (1.5, 2.5)}, r"docs_per_query\[0\] is 1.5; give a whole number"),
        ({"docs_per_query": (1, "a")}, r"docs_per_query\[1\] is 'a'; give a whole number"),
        ({"noise": "a"}, "noise is 'a'; give a number, 0 or more"),
    ],
)
def test_arguments_of_a_wrong_type(arguments, fragment):
    with pytest.raises(TypeError, match=fragment):
        make_retrieval(**arguments)
