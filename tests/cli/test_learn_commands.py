"""``rankwise fit``, ``predict``, ``evaluate`` and ``tree``: from a survey to a model, to predictions, and back."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import KFold

import rankwise
from rankwise.analysis.rankers import RANKER_NAMES, make_ranker, ranker_of
from rankwise.cli import sources
from rankwise.cli.learn_commands import Model
from rankwise.data import read_rankings
from rankwise.label_ranking import DummyRanker, RankingForest, RankingTree
from rankwise.metrics import kendall_tau_score
from tests.cli.running import problem, run, run_json

# Small enough for a test, where the default is large.
SMALL = {Model.FOREST: ["n_estimators=10"]}


@pytest.fixture(scope="module")
def forest(drinks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "drinks.rankwise"
    done = run("fit", drinks, "--param", "n_estimators=20", "--seed", "3", "-o", path)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"Learned from 60 rankings of 3 items, with 2 features. Model: {path}\n"
    assert done.stderr == "rankwise: not used as features: name (name)\n"
    return path


def positions_in(text: str) -> tuple[list[str], np.ndarray]:
    header, *rows = csv.reader(io.StringIO(text))
    return header, np.array(rows, dtype=float)


def test_the_command_knows_every_ranker() -> None:
    assert tuple(Model) == RANKER_NAMES


def test_predictions_are_those_of_the_library(drinks: Path, forest: Path) -> None:
    source = sources.load(str(drinks))
    X = np.column_stack([column.astype(object) for column in source.X.values()])
    ranker = RankingForest(20, categorical_features=[1], random_state=3, n_jobs=1).fit(X, source.rankings)
    header, positions = positions_in(run("predict", forest, drinks).stdout)
    assert header == ["tea", "milk", "juice"]
    np.testing.assert_array_equal(positions, ranker.predict(X))


def test_a_saved_model_knows_the_names_of_features_and_items(forest: Path) -> None:
    model = rankwise.load(forest)
    assert model.feature_names_in_.tolist() == ["age", "city"]
    assert model.items_ == ("tea", "milk", "juice")


@pytest.mark.parametrize("model", [model for model in Model if model != Model.STACKED])
def test_every_model_is_fitted_saved_and_predicts(model: Model, drinks: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.rankwise"
    params = [word for param in SMALL.get(model, []) for word in ("--param", param)]
    facts = run_json("fit", drinks, "--model", model, *params, "-o", path)
    assert facts == {
        "data": str(drinks),
        "model": model.value,
        "n_rankings": 60,
        "items": ["tea", "milk", "juice"],
        "features": ["age", "city"],
        "seed": 0,
        "out": str(path),
    }
    # A city that nobody has seen, and an age that is not known.
    _, positions = positions_in(run("predict", path, "-", stdin="city,age\nParis,30\nRome,\n").stdout)
    assert (np.sort(positions, axis=1) == [1, 2, 3]).all()
    _, own = positions_in(run("predict", path, drinks).stdout)
    tau = kendall_tau_score(read_rankings(drinks), own)
    assert tau > (0.1 if model == Model.CONSENSUS else 0.5)


def test_the_stacked_model_takes_categories_and_gaps(drinks: Path) -> None:
    source = sources.load(str(drinks))
    members = [(name, ranker_of(make_ranker(name, random_state=0))) for name in ("consensus", "tree")]
    stacked = make_ranker("stacked", categorical_features=[1], random_state=0)
    ranker_of(stacked).set_params(rankers=members, cv=2)
    X = np.column_stack([column.astype(object) for column in source.X.values()])
    assert stacked.fit(X, source.rankings).score(X, source.rankings) > 0.5


def test_columns_are_found_by_name(drinks: Path, forest: Path) -> None:
    rows = list(csv.DictReader(drinks.read_text("utf-8").splitlines()))
    text = "name;city;age\n" + "".join(f"{row['name']};{row['city']};{row['age']}\n" for row in rows)
    assert run("predict", forest, "-", stdin=text).stdout == run("predict", forest, drinks).stdout


def test_categories_that_look_like_numbers(tmp_path: Path) -> None:
    # Codes with leading zeros are texts when fitted; new rows may hold none of these.
    table, model = tmp_path / "codes.csv", tmp_path / "codes.rankwise"
    rows = [f"{'07' if i % 2 else '11'},{'1,2' if i % 2 else '2,1'}" for i in range(20)]
    table.write_text("code,rank_a,rank_b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert run("fit", table, "--model", "tree", "-o", model).exit_code == 0
    assert run("predict", model, "-", stdin="code\n11\n11\n").stdout == "a,b\n2,1\n2,1\n"
    assert run("predict", model, "-", stdin="code\n07\n").stdout == "a,b\n1,2\n"


def test_orders_are_the_positions_in_words(drinks: Path, forest: Path, tmp_path: Path) -> None:
    header, positions = positions_in(run("predict", forest, drinks).stdout)
    out = tmp_path / "orders.txt"
    done = run("predict", forest, drinks, "--orders", "-o", out)
    assert (done.stdout, done.exit_code) == ("", 0)
    expected = [" > ".join(header[i] for i in np.argsort(row)) for row in positions]
    assert out.read_text("utf-8").splitlines() == expected


@pytest.mark.parametrize("form", [[], ["--orders"]])
def test_predictions_as_json(form: list[str], drinks: Path, forest: Path, tmp_path: Path) -> None:
    text = run("predict", forest, drinks, *form).stdout
    found = run_json("predict", forest, drinks, *form)
    assert (found["data"], found["model"]) == (str(drinks), str(forest))
    assert found["items"] == ["tea", "milk", "juice"]
    if form:
        assert [" > ".join(order) for order in found["orders"]] == text.splitlines()
    else:
        assert found["positions"] == positions_in(text)[1].tolist()
    assert run_json("predict", forest, drinks, *form, "-o", tmp_path / "also.txt") == found
    assert (tmp_path / "also.txt").read_text("utf-8") == text


def test_predictions_go_to_files_for_people(drinks: Path, forest: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="workbooks are written by openpyxl")
    found, orders = run_json("predict", forest, drinks), run_json("predict", forest, drinks, "--orders")
    for name in ("positions.xlsx", "positions.json", "positions.md"):
        assert run("predict", forest, drinks, "-o", tmp_path / name).exit_code == 0
    sheet = openpyxl.load_workbook(tmp_path / "positions.xlsx").active
    assert [list(row) for row in sheet.values] == [found["items"], *found["positions"]]
    assert json.loads((tmp_path / "positions.json").read_text()) == found
    assert "| tea | milk | juice |" in (tmp_path / "positions.md").read_text()
    assert run("predict", forest, drinks, "--orders", "-o", tmp_path / "orders.xlsx").exit_code == 0
    rows = list(openpyxl.load_workbook(tmp_path / "orders.xlsx").active.values)
    assert [list(row) for row in rows[1:]] == orders["orders"]
    assert "choose one" in problem("predict", forest, drinks, "-o", tmp_path / "out.ods", code=2)


def test_predictions_are_rankings_for_the_next_command(drinks: Path, forest: Path) -> None:
    facts = run_json("describe", "-", stdin=run("predict", forest, drinks).stdout)
    assert (facts["n_rankings"], facts["items"], facts["kind"]) == (60, ["tea", "milk", "juice"], "full")


def test_a_pipe_of_two_processes(drinks: Path, forest: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "rankwise"]
    with drinks.open("rb") as table:
        done = subprocess.run(
            [*command, "predict", forest, "-"], stdin=table, capture_output=True, check=True, text=True
        )
    assert done.stderr == ""
    assert done.stdout == run("predict", forest, drinks).stdout


def test_a_data_set_by_name_and_a_model_without_names(tmp_path: Path) -> None:
    path = tmp_path / "iris.rankwise"
    X, y = rankwise.datasets.load_label_ranking("iris", return_X_y=True)
    assert run("fit", "iris", "--model", "tree", "-o", path).exit_code == 0
    by_name = run("predict", path, "iris").stdout
    tree = rankwise.load(path)
    np.testing.assert_array_equal(positions_in(by_name)[1], RankingTree(**tree.get_params()).fit(X, y).predict(X))
    del tree.feature_names_in_
    rankwise.save(tree, path)
    assert run("predict", path, "iris").stdout == by_name
    assert "4 features without names" in problem("predict", path, "-", stdin="x,y\n1,2\n")


def test_an_xarff_file(tmp_path: Path) -> None:
    data, model = tmp_path / "toy.xarff", tmp_path / "toy.rankwise"
    header = "@relation toy\n@attribute x real\n@attribute colour {red,green}\n@attribute y ranking {a,b}\n@data\n"
    rows = [f"{number},{'red,a>b' if number % 2 else 'green,b>a'}\n" for number in range(20)]
    data.write_text(header + "".join(rows), encoding="utf-8")
    assert run_json("fit", data, "--model", "tree", "-o", model)["features"] == ["x", "colour"]
    by_format = run("predict", model, data, "--orders").stdout
    assert by_format.splitlines() == ["b > a", "a > b"] * 10
    assert run("predict", model, "-", "--orders", stdin="colour,x\nred,3\n").stdout == "a > b\n"


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(drinks: Path, forest: Path) -> None:
    for arguments in (["predict", forest, drinks], ["describe", drinks], ["describe", drinks, "--json"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = [sys.executable, "-m", "rankwise", *arguments]
        done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
        os.close(write_end)
        assert done.stderr == b""


def test_items_that_nobody_compares_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "model.rankwise"
    text = "age,rank_a,rank_b,rank_c\n" + "1,1,2,\n2,2,1,\n" * 5 + "3,,,1\n"
    assert run_json("fit", "-", "--model", "tree", "-o", path, stdin=text)["items"] == ["a", "b"]


def test_problems_with_models_and_features(drinks: Path, forest: Path, tmp_path: Path) -> None:
    assert "needs the columns 'age', which are missing" in problem("predict", forest, "-", stdin="city\nRome\n")
    wrong = problem("predict", forest, "-", stdin="age,city\n1,Rome\nold,Rome\n")
    assert "standard input, line 3, column 1: 'old' is not a number" in wrong
    assert "there is no such file" in problem("predict", tmp_path / "no.rankwise", drinks)
    assert "no model can be read" in problem("predict", drinks, drinks)
    assert "there is no file" in problem("predict", forest, tmp_path / "no.csv")
    assert "of no use here" in problem("predict", forest, drinks, "--read", "layout=orders", code=2)
    assert "would replace the data" in problem("predict", forest, drinks, "-o", forest)
    mallows = rankwise.aggregation.Mallows().fit([[1, 2], [2, 1]])
    rankwise.save(mallows, tmp_path / "mallows.rankwise")
    assert "this is a Mallows" in problem("predict", tmp_path / "mallows.rankwise", drinks)


def test_problems_and_mistakes_of_fit(drinks: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.rankwise"
    assert "'boosted', 'stacked'" in problem("fit", drinks, "--model", "oracle", "-o", out, code=2)
    assert "--out" in problem("fit", drinks, code=2)
    unknown = problem("fit", drinks, "--param", "depth=2", "-o", out, code=2)
    assert "RankingForest has no parameter 'depth'; it has bootstrap" in unknown
    for value in ("-1", "abc"):
        wrong = problem("fit", drinks, "--param", f"max_depth={value}", "-o", out, code=2)
        assert "Invalid value for --param: The 'max_depth' parameter" in wrong
    neighbors = ["--model", "neighbors", "--param", "n_neighbors=many"]
    assert "n_neighbors" in problem("fit", drinks, *neighbors, "-o", out, code=2)
    assert "Value error" not in problem("fit", drinks, "--model", "oracle", "-o", out, code=2)
    assert not out.exists()
    assert "there is no folder" in problem("fit", drinks, "-o", tmp_path / "no" / "model.rankwise")
    assert "would replace the data" in problem("fit", drinks, "-o", drinks)
    assert "no features" in problem("fit", "-", "-o", out, stdin="rank_a,rank_b\n1,2\n2,1\n")
    assert "no column is named 'taste'" in problem("fit", drinks, "--target", "taste", "-o", out)
    assert not out.exists()


@pytest.mark.parametrize("command", [["fit", "--force", "-o", "model.rankwise"], ["evaluate", "--cv", "2"], ["tree"]])
def test_columns_that_may_be_answers_are_not_features(
    command: list[str], drinks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *options = command
    if name != "tree":
        options += ["--model" if name == "fit" else "--models", "consensus"]
    done = run(name, drinks, "--target", "rank_tea,rank_milk", "--layout", "positions", *options)
    assert (done.exit_code, done.stderr) == (0, "rankwise: not used as features: name (name), rank_juice (answer)\n")
    done = run(
        name,
        drinks,
        "--target",
        "rank_tea,rank_milk",
        "--layout",
        "positions",
        *options,
        "--features",
        "age,rank_juice",
    )
    assert done.stderr == "rankwise: not used as features: city (ignored), name (name)\n"  # as the user wants it


def test_debug_shows_where_a_problem_came_from(drinks: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="there is no folder"):
        run("--debug", "fit", drinks, "-o", tmp_path / "no" / "model.rankwise")


def test_the_leaderboard_is_the_mean_over_rows(drinks: Path) -> None:
    source = sources.load(str(drinks))
    found = run_json("evaluate", drinks, "--models", "consensus", "--cv", "4", "--seed", "2")
    assert (found["cv"], found["repeats"], found["seed"]) == (4, 1, 2)
    (standing,) = found["leaderboard"]
    taus = np.empty(60)
    folds = KFold(4, shuffle=True, random_state=int(np.random.RandomState(2).randint(np.iinfo(np.int32).max)))
    for train, test in folds.split(taus):
        ranker = DummyRanker("borda").fit(np.zeros((len(train), 1)), source.rankings[train])
        taus[test] = kendall_tau_score(source.rankings[test], ranker.predict(np.zeros((len(test), 1))), per_row=True)
    assert standing["tau"] == pytest.approx(taus.mean())
    assert standing["standard_error"] == pytest.approx(taus.std() / np.sqrt(60))
    assert standing["seconds"] > 0


def test_models_stand_best_first_and_the_table_shows_the_same(drinks: Path) -> None:
    options = ["--models", "consensus, tree,neighbors", "--cv", "3", "--repeats", "2"]
    board = run_json("evaluate", drinks, *options)["leaderboard"]
    assert [standing["tau"] for standing in board] == sorted((s["tau"] for s in board), reverse=True)
    assert board[-1]["model"] == "consensus"
    assert {standing["model"] for standing in board} == {"consensus", "tree", "neighbors"}
    shown = run("evaluate", drinks, *options).stdout
    assert "in 3-fold cross-validation, 2 times" in shown
    for standing in board:
        assert any(
            line.split()[:3] == [standing["model"], f"{standing['tau']:.3f}", f"{standing['standard_error']:.3f}"]
            for line in shown.splitlines()
        )


def test_problems_and_mistakes_of_evaluate(drinks: Path) -> None:
    unknown = problem("evaluate", drinks, "--models", "tree,oracle", code=2)
    assert "there is no model 'oracle'; there are consensus, neighbors" in unknown
    assert "give fewer with --cv" in problem("evaluate", drinks, "--cv", "61")
    assert "no features" in problem("evaluate", "-", stdin="rank_a,rank_b\n1,2\n2,1\n")
    ties = "age,rank_a,rank_b\n" + "".join(f"{age},1,1\n" for age in range(20, 30))
    options = ["--target", "rank_", "--models", "tree", "--cv", "2"]
    assert "nothing to predict" in problem("evaluate", "-", *options, stdin=ties)


def test_the_tree_tells_who_ranks_how(drinks: Path) -> None:
    text = run("tree", drinks).stdout
    assert "city in {" in text
    assert "age" in text
    facts = run_json("tree", drinks)
    assert facts["tree"] + "\n" == text
    assert facts["n_leaves"] == text.count("(n=")
    assert 1 <= facts["depth"] <= 3
    assert sum(facts["importances"].values()) == pytest.approx(1)
    assert run_json("tree", drinks, "--max-depth", "1")["depth"] == 1
    assert run_json("tree", drinks, "--min-samples-leaf", "31")["n_leaves"] == 1
    assert run_json("tree", drinks, "--no-prune", "--min-samples-leaf", "1")["n_leaves"] >= facts["n_leaves"]


@pytest.mark.parametrize(
    ("name", "beginning"), [("t.png", b"\x89PNG"), ("t.SVG", b"<?xml"), ("t.dot", b"digraph"), ("t.txt", b"|-- ")]
)
def test_the_tree_as_a_file(name: str, beginning: bytes, drinks: Path, tmp_path: Path) -> None:
    done = run("tree", drinks, "-o", tmp_path / name)
    assert done.exit_code == 0
    assert str(tmp_path / name) in done.stdout
    assert (tmp_path / name).read_bytes().startswith(beginning)


def test_problems_and_mistakes_of_tree(drinks: Path, tmp_path: Path) -> None:
    assert ".png, .svg" in problem("tree", drinks, "-o", tmp_path / "t.jpg", code=2)
    assert "there is no folder" in problem("tree", drinks, "-o", tmp_path / "no" / "t.png")
    assert "no features" in problem("tree", "-", stdin="rank_a,rank_b\n1,2\n2,1\n")


@pytest.mark.parametrize("words", [["tree"], ["evaluate", "--models", "consensus"], ["fit", "--model", "consensus"]])
def test_columns_that_are_left_out_are_told(words: list[str], drinks: Path, tmp_path: Path) -> None:
    out = ["--out", tmp_path / "m.rankwise"] if words[0] == "fit" else []
    assert "not used as features: name (name)" in run(words[0], drinks, *words[1:], *out).stderr


def test_json_and_a_file_go_together(drinks: Path, tmp_path: Path) -> None:
    done = run("tree", drinks, "--json", "-o", tmp_path / "t.txt")
    assert json.loads(done.stdout)["tree"] + "\n" == (tmp_path / "t.txt").read_text("utf-8")


def test_many_rankings_are_sampled_and_the_output_says_so(drinks: Path) -> None:
    words = ("evaluate", drinks, "--models", "consensus", "--cv", "2")
    done = run(*words, "--rows", "20")
    assert "rankwise: a random sample of 20 of 60 rankings; --rows 0 takes all" in done.stderr
    assert "-1 the reverse; a random sample of 20 of 60 rankings\n" in done.stdout
    result = run_json(*words, "--rows", "20", "--seed", "3")
    assert (result["n_rankings"], result["n_sampled"]) == (60, 20)
    whole = run(*words, "--rows", "0")
    assert "sample" not in whole.stdout + whole.stderr


def test_names_of_300_letters_are_cut_in_the_tree_that_people_read(tmp_path: Path) -> None:
    name = 60 * "honey"
    lines = [f"age,rank_{name},rank_tea", *(f"{age},{1 + (age > 40)},{2 - (age > 40)}" for age in range(20, 60))]
    (tmp_path / "long.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = run("tree", tmp_path / "long.csv").stdout
    assert "honeyho... > tea" in shown
    assert name not in shown
    assert name in run_json("tree", tmp_path / "long.csv")["tree"]


def test_one_of_a_thing_is_no_plural(tmp_path: Path) -> None:
    lines = ["age,rank_a,rank_b", *(f"{age},{1 + age % 2},{2 - age % 2}" for age in range(20, 32))]
    (tmp_path / "one.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run("fit", tmp_path / "one.csv", "--model", "consensus", "-o", tmp_path / "m.rankwise")
    assert "Learned from 12 rankings of 2 items, with 1 feature. " in done.stdout
