"""`leaderboard`: means and errors by hand, the same for every number of threads, features of every make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import RepeatedKFold

from rankwise import Rankings
from rankwise.datasets import load_label_ranking
from rankwise.label_ranking import DummyRanker, NearestNeighborsRanker, RankingForest, RankingTree
from rankwise.metrics import kendall_tau_score
from rankwise.model_selection import Leaderboard, leaderboard
from tests.pages import HOSTILE, Page

NAN = float("nan")


@pytest.fixture(scope="module")
def iris() -> Any:
    return load_label_ranking("iris", data_home="")


@pytest.mark.parametrize("n_repeats", [1, 3])
def test_means_and_errors_are_over_the_rows(n_repeats: int, iris: Any) -> None:
    weights = np.random.default_rng(0).integers(0, 4, len(iris.y)).astype(float)
    y = Rankings(iris.y, weights=weights)
    board = leaderboard({"same": DummyRanker()}, iris.X, y, cv=4, n_repeats=n_repeats, random_state=2)
    taus = np.full((n_repeats, len(y)), np.nan)
    for number, (train, test) in enumerate(
        RepeatedKFold(n_splits=4, n_repeats=n_repeats, random_state=2).split(iris.X)
    ):
        ranker = DummyRanker().fit(iris.X[train], y[train])
        taus[number // 4, test] = kendall_tau_score(y[test], ranker.predict(iris.X[test]), per_row=True)
    np.testing.assert_array_equal(board.taus, taus.mean(axis=0)[np.newaxis])
    mean = np.average(taus.mean(axis=0), weights=weights)
    assert board.means[0] == pytest.approx(mean)
    share = weights / weights.sum()
    assert board.standard_errors[0] == pytest.approx(np.sqrt(share**2 @ (taus.mean(axis=0) - mean) ** 2))
    assert (board.seconds > 0).all()


def test_best_first_and_the_same_for_every_number_of_threads(iris: Any) -> None:
    rankers = {
        "same": DummyRanker(),
        "forest": RankingForest(5, random_state=0),
        "tree": RankingTree(ccp_alpha="cv", random_state=0),
        "near": NearestNeighborsRanker(),
    }
    board, again = (leaderboard(rankers, iris.X, iris.y, cv=3, random_state=0, n_jobs=jobs) for jobs in (1, 2))
    assert board.names == again.names
    assert board.names[-1] == "same"
    assert (np.diff(board.means) <= 0).all()
    np.testing.assert_array_equal(board.taus, again.taus)
    np.testing.assert_array_equal(board.means, again.means)
    np.testing.assert_array_equal(board.standard_errors, again.standard_errors)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_features_may_be_a_data_frame_with_categories(make: Any) -> None:
    cities = ["Rome", "Bonn"] * 10
    X = make({"age": list(range(20)), "city": cities})
    y = [[1, 2, 3] if city == "Rome" else [3, 2, 1] for city in cities]
    board = leaderboard({"tree": RankingTree()}, X, y, cv=2, random_state=0)
    assert board.means.tolist() == [1.0]


def test_progress_is_told_fold_by_fold(iris: Any) -> None:
    steps: list[tuple[str, float]] = []
    rankers = {"a": DummyRanker(), "b": DummyRanker()}
    leaderboard(rankers, iris.X, iris.y, cv=2, random_state=0, on_step=lambda *step: steps.append(step))
    assert steps == [("a", 0.25), ("a", 0.5), ("b", 0.75), ("b", 1.0)]


def test_items_that_only_some_folds_compare_are_not_judged_there() -> None:
    y = [[1, 2, NAN]] * 5 + [[2, 1, 3]]
    board = leaderboard({"same": DummyRanker()}, np.zeros((6, 1)), y, cv=3, random_state=0)
    assert board.taus[0, :5].tolist() == [1] * 5
    assert board.taus[0, 5] == -1  # the one pair that the other rankings compare


def test_a_fold_that_compares_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="tie all items they compare, so there is nothing to predict"):
        leaderboard({"same": DummyRanker()}, np.zeros((4, 1)), [[1, NAN]] * 3 + [[1, 2]], cv=2, random_state=0)


def test_every_random_state_is_welcome(iris: Any) -> None:
    options: dict[str, Any] = {"cv": 2}
    rankers = {"same": DummyRanker()}
    with_seed = leaderboard(rankers, iris.X, iris.y, random_state=np.int64(3), **options)
    expected = leaderboard(rankers, iris.X, iris.y, random_state=3, **options)
    np.testing.assert_array_equal(with_seed.taus, expected.taus)
    for random_state in (None, np.random.default_rng(0), np.random.RandomState(0)):
        assert len(leaderboard(rankers, iris.X, iris.y, random_state=random_state, **options)) == 1


def test_it_shows_itself_and_gives_frames() -> None:
    board = Leaderboard(
        names=(HOSTILE, "tree"),
        taus=np.array([[0.5, 1.0], [NAN, 0.0]]),
        means=np.array([0.75, -0.0001]),
        standard_errors=np.array([0.125, 0.25]),
        seconds=np.array([1.0, 2.0]),
        weights=np.ones(2),
        cv=5,
        n_repeats=2,
    )
    assert "in 5-fold cross-validation, 2 times: 1 is perfect" in repr(board)
    assert "tree" in repr(board)
    assert "-0.000" not in repr(board)
    assert "seconds a fold" not in str(board.table(seconds=False))
    assert str(board.table(note="a sample")).splitlines()[1].endswith("-1 the reverse; a sample")
    page = Page(board._repr_html_())
    assert "script" not in page.tags
    assert board.to_frame()["mean_tau"].tolist() == [0.75, -0.0001]
    assert board.to_frame("polars")["ranker"].to_list() == [HOSTILE, "tree"]


def test_mistakes(iris: Any) -> None:
    with pytest.raises(TypeError, match="mapping of names to rankers"):
        leaderboard([DummyRanker()], iris.X, iris.y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="200 folds need as many rankings, but there are 150"):
        leaderboard({"same": DummyRanker()}, iris.X, iris.y, cv=200)
    with pytest.raises(ValueError, match="cv is 1"):
        leaderboard({"same": DummyRanker()}, iris.X, iris.y, cv=1)


def test_rows_of_features_must_be_as_many_as_rankings():
    X, y = load_label_ranking("iris", return_X_y=True)
    for rows in (X[:100], np.vstack([X, X])):
        with pytest.raises(ValueError, match=f"X has {len(rows)} rows, but y has 150 rankings"):
            leaderboard({"consensus": DummyRanker()}, rows, y)


def test_a_leaderboard_needs_rankers():
    with pytest.raises(ValueError, match="rankers is empty"):
        leaderboard({}, [[1.0], [2.0]], [[1, 2], [2, 1]])
