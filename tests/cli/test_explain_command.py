"""``rankwise explain``: the explanation and the change are those of the library, and mistakes are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankwise
from rankwise.cli.learn_commands import read_features
from tests.cli.running import problem, run, run_json


@pytest.fixture(scope="module", params=["tree", "forest", "boosted"])
def model(request: pytest.FixtureRequest, drinks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / f"{request.param}.rankwise"
    small = [] if request.param == "tree" else ["--param", "n_estimators=10"]
    assert run("fit", drinks, "--model", request.param, *small, "-o", path).exit_code == 0
    return path


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_answers_are_those_of_the_library(drinks: Path, model: Path) -> None:
    ranker = rankwise.load(model)
    person = read_features(ranker, str(drinks), {})[4:5]
    found = run_json("explain", model, drinks, "--row", "5", "--above", "tea", "--below", "juice")
    why = ranker.explain(person, "tea", "juice")
    assert found["pair"] == ["tea", "juice"]
    assert found["prediction"] == pytest.approx(why.prediction[0])
    assert {name: part["adds"] for name, part in found["features"].items()} == pytest.approx(
        dict(zip(["age", "city"], why.values[0], strict=True))
    )
    is_first = why.prediction[0] > (0.5 if why.output == "share" else 0)
    pair = ("juice", "tea") if is_first else ("tea", "juice")
    change = ranker.counterfactual(person, *pair)
    assert found["change"]["pair"] == list(pair)
    assert found["change"]["found"] == change.found
    assert list(found["change"]["features"]) == [part.feature for part in change.changes]
    text = run("explain", model, drinks, "--row", "5", "--above", "tea", "--below", "juice").stdout
    assert text.startswith(f"tea before juice: {why.output} {why.prediction[0]:.3f}\n")
    assert f"{pair[0]} before {pair[1]}" in text


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_by_default_the_best_two_are_compared(drinks: Path, model: Path) -> None:
    ranker = rankwise.load(model)
    places = ranker.predict(read_features(ranker, str(drinks), {})[:1])[0]
    order = [ranker.items_[item] for item in np.argsort(places)]
    assert run_json("explain", model, drinks)["pair"] == order[:2]
    assert run_json("explain", model, drinks, "--below", order[0])["pair"] == [order[1], order[0]]
    assert run_json("explain", model, drinks, "--above", order[2])["pair"] == [order[2], order[0]]
    fixed = run_json("explain", model, drinks, "--immutable", "age, city")["change"]
    assert not fixed["found"]
    assert fixed["is_smallest"]
    assert fixed["distance"] is None


def test_tables_go_to_files(drinks: Path, model: Path, tmp_path: Path) -> None:
    assert run("explain", model, drinks, "-o", tmp_path / "why.md").exit_code == 0
    assert "where no feature is known" in (tmp_path / "why.md").read_text("utf-8")


def test_mistakes_are_named(drinks: Path, model: Path, tmp_path: Path) -> None:
    assert "there is no item beer; the items are tea, milk, juice" in problem(
        "explain", model, drinks, "--above", "beer", code=2
    )
    assert "there are 60 rows" in problem("explain", model, drinks, "--row", "61", code=2)
    assert "compared with itself" in problem("explain", model, drinks, "--above", "tea", "--below", "tea", code=2)
    assert "immutable names 'sex', but the features are age, city" in problem(
        "explain", model, drinks, "--immutable", "sex"
    )
    other = tmp_path / "neighbors.rankwise"
    assert run("fit", drinks, "--model", "consensus", "-o", other).exit_code == 0
    assert "a DummyRanker cannot explain a prediction; fit a tree, forest or boosted model" in problem(
        "explain", other, drinks
    )
