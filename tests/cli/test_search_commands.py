"""rank-train, rank-predict and rank-evaluate, run on files as users have them."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import rankwise
from rankwise.data import read_letor, read_qrels, read_run, write_letor
from rankwise.datasets import make_retrieval
from rankwise.label_ranking import DummyRanker
from rankwise.ltr import LambdaMART, LinearRanker
from rankwise.metrics import average_precision_score, ndcg_score
from rankwise.model_selection import evaluate_rankers
from tests.cli.running import problem, run, run_json

QUICK = ("--param", "n_estimators=5")
QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 0\n2 0 d 1\n3 0 e 1\n"
RUN = "1 Q0 b 1 0.9 one\n1 Q0 a 2 0.5 one\n1 Q0 x 3 0.1 one\n2 Q0 d 1 2 one\n2 Q0 a 2 1 one\n"
OTHER = "1 Q0 a 1 0.9 two\n1 Q0 c 2 0.5 two\n2 Q0 a 1 2 two\n2 Q0 d 2 1 two\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training and validation queries, and a ranker of each kind that needs no extra."""
    folder = tmp_path_factory.mktemp("letor")
    X, y, qid, _ = make_retrieval(30, random_state=0)
    train = qid <= 20
    names = [f"docid = D{row} inc = 1" for row in range(len(y))]
    write_letor(folder / "train.txt", X[train], y[train], qid[train])
    write_letor(folder / "vali.txt.gz", X[~train], y[~train], qid[~train], np.array(names)[~train])
    assert run("rank-train", folder / "train.txt", "-o", folder / "m.rankwise", *QUICK).exit_code == 0
    linear = ("rank-train", folder / "train.txt", "-o", folder / "linear.rankwise", "--model", "linear")
    assert run(*linear).exit_code == 0
    return folder


@pytest.fixture
def trec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("qrels", QRELS), ("run", RUN), ("other", OTHER)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def documents(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return read_letor(path)


# -- rank-train ---------------------------------------------------------------------------------------------------


def test_it_trains_what_the_library_trains(folder: Path, tmp_path: Path) -> None:
    train, vali, out = folder / "train.txt", folder / "vali.txt.gz", tmp_path / "m.rankwise"
    options = ("--param", "n_estimators=8", "--param", "tree=level", "--metric", "AP@5", "--seed", "3")
    result = run_json("rank-train", train, "--valid", vali, "-o", out, *options)
    ranker = LambdaMART(8, metric="map", k=5, tree="level", early_stopping=True, n_iter_no_change=50, random_state=3)
    X, y, qid = documents(train)
    ranker.fit(X, y, qid=qid, eval_set=documents(vali))
    loaded = rankwise.load(out)
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    assert result["metric"] == "map@5"
    assert result["n_trees"] == ranker.n_estimators_
    assert [part["score"] for part in result["parts"]] == [
        ranker.score(*documents(train)),
        ranker.score(*documents(vali)),
    ]
    assert [part["n_queries"] for part in result["parts"]] == [20, 10]


def test_the_table_has_the_numbers_of_the_json(folder: Path, tmp_path: Path) -> None:
    words = ("rank-train", folder / "train.txt", "--force", "-o", tmp_path / "m.rankwise", *QUICK)
    part = run_json(*words)["parts"][1]
    text = run(*words).stdout
    assert "LambdaMART of" in text
    assert "linear gain y" in text
    assert f"{part['score']:.4f}" in text
    assert f"{part['n_documents']:,}" in text


def test_the_table_of_training_goes_to_a_file_of_its_own(folder: Path, tmp_path: Path) -> None:
    words = ("rank-train", folder / "train.txt", "--force", "-o", tmp_path / "m.rankwise", *QUICK)
    facts = run_json(*words, "--table", tmp_path / "scores.json")
    assert json.loads((tmp_path / "scores.json").read_text()) == facts
    assert run(*words, "--table", tmp_path / "scores.csv").exit_code == 0
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    assert lines[0] == "part,queries,documents,ndcg@10"
    assert [line.split(",")[0] for line in lines[1:]] == [part["part"] for part in facts["parts"]]
    assert "choose one" in problem(*words, "--table", tmp_path / "scores.txt", code=2)


def test_queries_are_held_out_unless_there_are_others(folder: Path, tmp_path: Path) -> None:
    words = ("rank-train", folder / "train.txt", "--force", "-o", tmp_path / "m.rankwise", *QUICK)
    result = run_json(*words, "--hold-out", "0.25")
    assert [(part["part"], part["n_queries"]) for part in result["parts"]] == [("training", 15), ("held out", 5)]
    assert "25% of the queries were held out" in result["note"]
    assert run_json(*words, "--hold-out", "0.25", "--seed", "1")["parts"] != result["parts"]
    watched = run_json(*words, "--valid", folder / "vali.txt.gz")
    assert [part["part"] for part in watched["parts"]] == ["training", "validation"]
    alone = run_json(*words, "--hold-out", "0")
    assert [part["n_queries"] for part in alone["parts"]] == [20]
    assert "says nothing about other queries" in alone["note"]


def test_few_queries_are_all_trained_on(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 2:1\n0 qid:1 1:1\n1 qid:2 2:3\n0 qid:2 1:1\n")
    words = ("rank-train", tmp_path / "train.txt", "--force", "-o", tmp_path / "m.rankwise", "--model", "linear")
    result = run_json(*words)
    assert [part["n_queries"] for part in result["parts"]] == [2]
    assert "too few to hold some out" in result["note"]


def test_parameters_come_after_options(folder: Path, tmp_path: Path) -> None:
    words = ("rank-train", folder / "train.txt", "--force", "-o", tmp_path / "m.rankwise", "--model", "linear")
    result = run_json(*words, "--metric", "map", "--param", "metric=ndcg", "--param", "score_gain=exp")
    assert (result["metric"], result["gain"]) == ("ndcg", "exp")
    assert rankwise.load(tmp_path / "m.rankwise").score_gain == "exp"


def test_a_folder_has_parts(folder: Path, tmp_path: Path) -> None:
    for name in ("train.txt", "vali.txt.gz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    out = ("--force", "-o", tmp_path / "m.rankwise")
    result = run_json("rank-train", tmp_path, *out, *QUICK)
    assert [part["part"] for part in result["parts"]] == ["training", "validation"]
    assert run("rank-train", tmp_path, *out, "--valid", folder / "vali.txt.gz").exit_code == 2
    assert "one file of it" in problem("rank-train", folder / "train.txt", *out, "--valid", tmp_path, code=2)
    assert "no test part" in problem("rank-predict", tmp_path / "m.rankwise", tmp_path)
    (tmp_path / "train.txt").unlink()
    assert "no train part" in problem("rank-train", tmp_path, *out)


def test_the_built_in_collection_needs_no_files(tmp_path: Path) -> None:
    ranker, scores = tmp_path / "m.rankwise", tmp_path / "scores.txt"
    result = run_json("rank-train", "synthetic", "-o", ranker, *QUICK)
    assert [part["part"] for part in result["parts"]] == ["training", "validation", "test"]
    assert run("rank-predict", ranker, "synthetic", "-o", scores).exit_code == 0
    found = run_json("rank-evaluate", "--letor", "synthetic", "--model", ranker, "--scores", scores, "-m", "ndcg@10")
    assert [system["means"]["ndcg@10"] for system in found["systems"]] == [result["parts"][2]["score"]] * 2


def test_sizes_of_queries_in_a_file_beside(folder: Path, tmp_path: Path) -> None:
    X, y, qid = documents(folder / "train.txt")
    write_letor(tmp_path / "rows.txt", X, y)
    words = ("rank-train", tmp_path / "rows.txt", "--force", "-o", tmp_path / "m.rankwise", *QUICK)
    message = problem(*words)
    assert "rows.txt.query" in message
    assert "qid:" in message
    (tmp_path / "rows.txt.query").write_text("".join(f"{size}\n" for size in np.unique(qid, return_counts=True)[1]))
    assert run_json(*words, "--hold-out", "0")["parts"][0]["n_queries"] == 20


def test_sparse_files_train_linear_rankers_and_the_widest_part_counts(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 2:1\n0 qid:1 1:1\n1 qid:2 2:3\n0 qid:2 1:1\n")
    (tmp_path / "vali.txt").write_text("1 qid:3 2:1\n0 qid:3 50000:1\n")
    words = ("rank-train", tmp_path / "train.txt", "--force", "-o", tmp_path / "m.rankwise", "--model", "linear")
    result = run_json(*words, "--valid", tmp_path / "vali.txt")
    assert result["n_features"] == 50_000
    assert result["n_trees"] is None
    assert isinstance(rankwise.load(tmp_path / "m.rankwise"), LinearRanker)


def test_neural_rankers_train_or_say_what_they_need(folder: Path, tmp_path: Path) -> None:
    train, out = folder / "train.txt", tmp_path / "neural.rankwise"
    words = (
        "rank-train",
        train,
        "--force",
        "-o",
        out,
        "--model",
        "neural",
        "--param",
        "n_epochs=1",
        "--param",
        "attention=true",
    )
    if find_spec("torch") is None:
        assert "pip install 'rankwise[neural]'" in problem(*words)
        return
    assert run(*words, "--param", "hidden=(4,)").exit_code == 0
    X, _, qid = documents(train)
    # With attention, a score depends on the other documents of the query.
    expected = rankwise.load(out).predict(X, qid)
    np.testing.assert_array_equal([float(line) for line in run("rank-predict", out, train).stdout.split()], expected)


def test_features_that_count_from_0(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 0:1\n0 qid:1 1:1\n")
    words = ("rank-train", tmp_path / "train.txt", "--force", "-o", tmp_path / "m.rankwise", "--model", "linear")
    assert run(*words).exit_code == 1
    assert run_json(*words, "--zero-based")["n_features"] == 2
    predict = ("rank-predict", tmp_path / "m.rankwise", tmp_path / "train.txt")
    assert len(run(*predict, "--zero-based").stdout.split()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("", "no documents"),
        ("1 qid:1 1:x\n", "line 1"),
        ("1 qid:1 1:nan\n", "not index:value with a finite value"),
        ("1 qid:1 1:0.5\n", "no query has two rows of different relevance"),
    ],
)
def test_bad_training_files_are_one_line(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    if text is not None:
        path.write_text(text)
    assert message in problem("rank-train", path, "-o", tmp_path / "m.rankwise", "--model", "linear")
    assert not (tmp_path / "m.rankwise").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--metric", "ncdg@10"], ["ncdg@10", "ndcg@k", "recall@k"]),
        (["--metric", "tau"], ["search results"]),
        (["--model", "forest"], ["lambdamart", "linear", "neural"]),
        (["--param", "n_estimators"], ["NAME=VALUE"]),
        (["--param", "n_trees=5"], ["n_trees", "n_estimators"]),
    ],
)
def test_mistakes_in_the_command_say_what_there_is(options: list[str], words: list[str], folder: Path) -> None:
    message = problem("rank-train", folder / "train.txt", "-o", folder / "never.rankwise", *options, code=2)
    for word in words:
        assert word in message
    assert not (folder / "never.rankwise").exists()


def test_a_parameter_of_the_wrong_kind_is_one_line(folder: Path) -> None:
    words = ("rank-train", folder / "train.txt", "--force", "-o", folder / "never.rankwise")
    assert "'n_estimators' parameter of LambdaMART" in problem(*words, "--param", "n_estimators=many", code=2)


def test_the_ranker_does_not_replace_the_data(folder: Path) -> None:
    assert "would replace the data" in problem("rank-train", folder / "train.txt", "-o", folder / "train.txt")


# -- rank-predict -------------------------------------------------------------------------------------------------


def test_scores_go_into_tables_by_the_suffix(folder: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    words = ("rank-predict", folder / "m.rankwise", folder / "vali.txt.gz")
    found = run_json(*words)
    for suffix in ("csv", "xlsx", "json", "md"):
        assert run(*words, "-o", tmp_path / f"scores.{suffix}").exit_code == 0
    assert json.loads((tmp_path / "scores.json").read_text("utf-8")) == found
    first = found["scores"][0]
    header, row = (tmp_path / "scores.csv").read_text("utf-8").splitlines()[:2]
    assert header == "query,document,score"
    assert [row.split(",")[0], float(row.split(",")[2])] == [str(first["qid"]), first["score"]]
    cells = list(openpyxl.load_workbook(tmp_path / "scores.xlsx")["Scores"].values)
    assert [row[2] for row in cells[1:]] == pytest.approx([one["score"] for one in found["scores"]])
    assert (tmp_path / "scores.md").read_text("utf-8").startswith("## Scores")
    assert "would be a picture" in problem(*words, "-o", tmp_path / "scores.png", code=2)
    assert "a TREC run is text" in problem(*words, "--run", "-o", tmp_path / "run.xlsx", code=2)


@pytest.mark.parametrize("model", ["m.rankwise", "linear.rankwise"])
def test_scores_one_a_line(model: str, folder: Path, tmp_path: Path) -> None:
    vali, out = folder / "vali.txt.gz", tmp_path / "scores.txt"
    expected = rankwise.load(folder / model).predict(documents(vali)[0])
    done = run("rank-predict", folder / model, vali)
    # Sparse features, as linear rankers get them, are added up in another order.
    np.testing.assert_allclose([float(line) for line in done.stdout.splitlines()], expected, rtol=1e-12)
    assert run("rank-predict", folder / model, vali, "-o", out).stdout == ""
    assert out.read_text() == done.stdout


def test_scores_as_json(folder: Path, tmp_path: Path) -> None:
    model, vali = folder / "m.rankwise", folder / "vali.txt.gz"
    found = run_json("rank-predict", model, vali)
    assert (found["data"], found["model"]) == (str(vali), str(model))
    text = run("rank-predict", model, vali).stdout
    assert [row["score"] for row in found["scores"]] == [float(line) for line in text.splitlines()]
    assert [row["qid"] for row in found["scores"]] == documents(vali)[2].tolist()
    assert all(re.fullmatch(r"D\d+", row["document"]) for row in found["scores"])
    assert run_json("rank-predict", model, vali, "--run", "-o", tmp_path / "run.txt") == found
    assert (tmp_path / "run.txt").read_text() == run("rank-predict", model, vali, "--run").stdout


def test_a_pipe_from_train_to_scores(folder: Path) -> None:
    text = gzip.decompress((folder / "vali.txt.gz").read_bytes()).decode()
    done = run("rank-predict", folder / "m.rankwise", "-", stdin=text)
    assert done.stdout == run("rank-predict", folder / "m.rankwise", folder / "vali.txt.gz").stdout


def test_a_run_has_the_documents_of_the_comments(folder: Path, tmp_path: Path) -> None:
    vali, out = folder / "vali.txt.gz", tmp_path / "run.txt"
    words = ("rank-predict", folder / "m.rankwise", vali, "--run", "--tag", "mine", "--force", "-o", out)
    assert run(*words).exit_code == 0
    found = read_run(out)
    X, _, qid = documents(vali)
    score = rankwise.load(folder / "m.rankwise").predict(X)
    first = len(documents(folder / "train.txt")[1])
    expected = {(str(q), f"D{row}"): s for row, (q, s) in enumerate(zip(qid, score, strict=True), first)}
    assert dict(zip(zip(found.qid, found.doc_id, strict=True), found.score, strict=True)) == expected
    assert set(found.tag) == {"mine"}


@pytest.mark.parametrize(
    ("comments", "names"),
    [
        (["", ""], ["1", "2"]),
        (["GX1", "GX2"], ["GX1", "GX2"]),
        (["#docid = 7 inc = 1", "docid=8"], ["7", "8"]),
        (["GX1", "no name at all"], ["1", "2"]),
    ],
)
def test_names_of_documents(comments: list[str], names: list[str], folder: Path, tmp_path: Path) -> None:
    write_letor(tmp_path / "rows.txt", [[1.0], [2.0]], [0, 1], [5, 5], comments)
    done = run("rank-predict", folder / "m.rankwise", tmp_path / "rows.txt", "--run")
    assert sorted(line.split()[2] for line in done.stdout.splitlines()) == sorted(names)


def test_features_that_the_ranker_does_not_know(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("1 qid:1 999:1\n")
    message = problem("rank-predict", folder / "m.rankwise", tmp_path / "rows.txt")
    assert "999 features" in message
    assert "trained on 20" in message


def test_features_that_a_file_does_not_name_count_as_0_and_are_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("1 qid:1 1:1 3:2\n0 qid:1 2:1\n")
    (tmp_path / "all.txt").write_text("1 qid:1 1:1 3:2 20:0\n0 qid:1 2:1\n")
    few, complete = (run("rank-predict", folder / "m.rankwise", tmp_path / name) for name in ("few.txt", "all.txt"))
    assert few.stdout == complete.stdout
    assert "names 3 features, the model was trained on 20; the others count as 0" in few.stderr
    assert complete.stderr == ""


def test_models_that_do_not_rank_documents(folder: Path, tmp_path: Path) -> None:
    rankwise.save(DummyRanker().fit([[1.0]], [[1, 2]]), tmp_path / "labels.rankwise")
    assert "rank-train" in problem("rank-predict", tmp_path / "labels.rankwise", folder / "train.txt")
    message = problem("rank-predict", folder / "train.txt", folder / "train.txt")
    assert "no model can be read" in message
    assert run("rank-predict", tmp_path / "nosuch", folder / "train.txt").exit_code == 1


def test_scores_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    words = ("rank-predict", folder / "m.rankwise", folder / "train.txt", "-o")
    assert "there is no folder" in run(*words, tmp_path / "no" / "scores.txt").stderr
    assert "is a folder" in run(*words, tmp_path).stderr
    assert "would replace" in run(*words, folder / "m.rankwise").stderr


# -- rank-evaluate ------------------------------------------------------------------------------------------------


def test_values_of_a_run_by_hand(trec: Path) -> None:
    result = run_json("rank-evaluate", "qrels", "run", "-m", "ndcg map mrr p@5,recall@1", "--per-query")
    (system,) = result["systems"]
    assert system["system"] == "run"
    ideal = 2 + 1 / np.log2(3)
    assert system["per_query"]["ndcg"] == pytest.approx({"1": 2 / np.log2(3) / ideal, "2": 1.0})
    assert system["per_query"]["map"] == {"1": 0.25, "2": 1.0}  # one of two found, at place 2
    assert system["means"] == pytest.approx(
        {"ndcg": (2 / np.log2(3) / ideal + 1) / 2, "map": 0.625, "mrr": 0.75, "p@5": 0.2, "recall@1": 0.5}
    )
    assert result["differences"] == []
    assert result["notes"] == ["run lacks 1 of 3 judged queries, skipped here; --complete counts them as 0"]


def test_queries_that_a_run_leaves_out_count_as_0_if_asked_for(trec: Path) -> None:
    result = run_json("rank-evaluate", "qrels", "run", "-m", "map", "--complete")
    assert result["systems"][0]["means"]["map"] == pytest.approx(1.25 / 3)
    assert result["n_queries"] == 3


def test_two_runs_are_compared_query_by_query(trec: Path) -> None:
    result = run_json("rank-evaluate", "qrels", "run", "other", "-m", "map", "-m", "RR")
    first, second = result["differences"]
    assert first["metric"] == "map"
    assert (first["first"], first["second"]) == ("run", "other")
    assert first["difference"] == pytest.approx((0.25 + 1 - 1 - 0.5) / 2)
    assert (first["wins"], first["losses"], first["ties"]) == (1, 1, 0)
    assert second["metric"] == "RR"
    text = run("rank-evaluate", "qrels", "run", "other", "-m", "map", "--per-query").stdout
    for words in ("Means over 2 queries", "\nties: trec", "Differences of map\n", "run - other", "-0.1250"):
        assert words in text
    assert "gain" not in text


def test_the_gain_is_said_where_a_metric_has_one(trec: Path) -> None:
    text = run("rank-evaluate", "qrels", "run", "other", "-m", "ndcg@10 map", "--gain", "exp", "--per-query").stdout
    assert "ndcg@10 (exponential gain); ties: trec" in text
    assert "Queries by ndcg@10\n2 queries of 2, worst first; ndcg@10 (exponential gain)\n" in text
    assert "Differences of ndcg@10 (exponential gain)\n" in text
    assert "Differences of map\n" in text


def test_queries_are_listed_worst_first(trec: Path) -> None:
    text = run("rank-evaluate", "qrels", "run", "other", "-m", "map", "--worst", "1").stdout
    assert "Queries by map\n1 query of 2, worst first\n" in text
    assert re.search(r"^query +run +other +other - run\n +2 +1.0000 +0.5000 +-0.5000\n\n", text, re.MULTILINE)
    both = run("rank-evaluate", "qrels", "run", "other", "-m", "map", "--per-query").stdout
    assert re.search(r"-0.5000\n +1 +0.2500 +1.0000 +\+0.7500\n", both)


def test_tables_can_be_written(trec: Path) -> None:
    run("rank-evaluate", "qrels", "run", "other", "-m", "map", "-o", "means.csv")
    assert Path("means.csv").read_text() == "system,map\nrun,0.625\nother,0.75\n"
    run("rank-evaluate", "qrels", "run", "-m", "map", "-o", "means.json")
    assert json.loads(Path("means.json").read_text())["systems"][0]["means"] == {"map": 0.625}
    assert "e.doc does not end in .csv" in problem("rank-evaluate", "qrels", "run", "-o", "e.doc", code=2)


def test_runs_with_different_queries_are_not_compared_without_a_word(trec: Path) -> None:
    Path("other").write_text(OTHER + "3 Q0 e 1 1 two\n")
    message = problem("rank-evaluate", "qrels", "run", "other")
    assert "query 3 is in other, but not in run" in message
    assert "--complete" in message
    assert run_json("rank-evaluate", "qrels", "run", "other", "--complete")["n_queries"] == 3


def test_one_query_is_too_few_for_a_test(trec: Path) -> None:
    for name, text in (("run", RUN), ("other", OTHER)):
        Path(name).write_text("".join(line + "\n" for line in text.splitlines() if line.startswith("1")))
    result = run_json("rank-evaluate", "qrels", "run", "other", "-m", "map")
    assert result["differences"] == []
    assert "too few queries for a test of map" in result["notes"]


def test_names_of_systems_are_as_short_as_tells_them_apart(trec: Path) -> None:
    Path("a").mkdir()
    for name, others in (("bm25.run", "bm25.txt"), ("a/bm25.run", "bm25.run")):
        for path in (name, others):
            Path(path).write_text(RUN)
        systems = run_json("rank-evaluate", "qrels", name, others)["systems"]
        assert [system["system"] for system in systems] == [name, others]
    assert run_json("rank-evaluate", "qrels", "a/bm25.run", "run")["systems"][0]["system"] == "bm25"


def test_a_run_from_a_pipe(trec: Path) -> None:
    piped, read = (run_json("rank-evaluate", "qrels", name, stdin=RUN) for name in ("-", "run"))
    assert piped["systems"][0]["system"] == "standard input"
    assert piped["systems"][0]["means"] == read["systems"][0]["means"]


def test_rankers_and_scores_of_a_letor_file(folder: Path, tmp_path: Path) -> None:
    vali, model, scores = folder / "vali.txt.gz", folder / "m.rankwise", tmp_path / "scores.txt"
    run("rank-predict", folder / "linear.rankwise", vali, "-o", scores)
    words = ("rank-evaluate", "--letor", vali, "--model", model, "--scores", scores, "-m", "ndcg@5 map")
    result = run_json(*words, "--gain", "exp", "--threshold", "1")
    X, y, qid = documents(folder / "vali.txt.gz")
    linear, trees = (rankwise.load(folder / name).predict(X) for name in ("linear.rankwise", "m.rankwise"))
    assert [system["system"] for system in result["systems"]] == ["scores", "m"]
    for system, score in zip(result["systems"], (linear, trees), strict=True):
        assert system["means"]["ndcg@5"] == pytest.approx(ndcg_score(y, score, qid, 5, "exp"), abs=1e-12)
        assert system["means"]["map"] == pytest.approx(average_precision_score(y, score, qid, threshold=1), abs=1e-12)
    assert result["policy"] == {"gain": "exp", "threshold": 1.0, "ties": "average", "empty": "skip"}


def test_rankers_are_trained_and_measured_on_other_queries(folder: Path) -> None:
    vali = folder / "vali.txt.gz"
    result = run_json("rank-evaluate", "--letor", vali, "--train", "linear", "--train", "lambdamart", "-m", "ndcg@5")
    X, y, qid = documents(vali)
    rankers = {"linear": LinearRanker(random_state=0), "lambdamart": LambdaMART(random_state=0)}
    expected = evaluate_rankers(rankers, X, y, qid, ["ndcg@5"], random_state=0)
    means = {system["system"]: system["means"]["ndcg@5"] for system in result["systems"]}
    assert means == dict(zip(rankers, expected.means[:, 0].tolist(), strict=True))
    assert result["notes"] == expected.notes


def test_queries_without_relevant_documents(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("0 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n0 qid:2 1:2\n")
    (tmp_path / "scores.txt").write_text("1\n2\n2\n1\n")
    files = ("--letor", tmp_path / "rows.txt", "--scores", tmp_path / "scores.txt")
    words = ("rank-evaluate", *files, "-m", "ap")
    result = run_json(*words, "--per-query")
    assert result["systems"][0]["per_query"]["ap"] == {"1": None, "2": 1.0}
    assert result["systems"][0]["means"]["ap"] == 1.0
    assert result["notes"] == ["no relevant document in 1 of the queries, skipped by ap"]
    both = run(*words, "-m", "ndcg@10").stdout
    assert "Means over 1 of 2 queries" in both
    assert both.count("no relevant document in 1 of the queries, skipped by ap, ndcg@10\n") == 1
    assert run_json(*words, "--empty", "0")["systems"][0]["means"]["ap"] == 0.5
    assert re.search(r"^ *1 +- *$", run(*words, "--per-query").stdout, re.MULTILINE)


def test_err_has_one_scale_for_all_runs(trec: Path) -> None:
    Path("other").write_text("2 Q0 d 1 1 two\n")  # its query has no document of the highest grade
    means = run_json("rank-evaluate", "qrels", "other", "-m", "err")["systems"][0]["means"]
    assert means["err"] == 0.5
    scaled = run_json("rank-evaluate", "qrels", "other", "-m", "err", "--max-grade", "2")["systems"][0]["means"]
    assert scaled["err"] == 0.25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n", "1 scores, but"),
        ("1\nx\n", "line 2"),
        ("1\nnan\n", "not a finite number"),
        ("", "0 scores, but"),
        (None, "there is no such file"),
    ],
)
def test_bad_scores_are_one_line(text: str | None, message: str, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("0 qid:1 1:1\n1 qid:1 1:2\n")
    if text is not None:
        (tmp_path / "scores.txt").write_text(text)
    assert message in problem("rank-evaluate", "--letor", tmp_path / "rows.txt", "--scores", tmp_path / "scores.txt")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["qrels"], 2, "one RUN or more"),
        ([], 2, "one RUN or more"),
        (["--scores", "run"], 2, "--letor"),
        (["--letor", "qrels"], 2, "--scores, --model or --train"),
        (["qrels", "--letor", "qrels", "--scores", "run"], 2, "drop 'qrels'"),
        (["qrels", "run", "--train", "linear"], 2, "give it"),
        (["--letor", "qrels", "--scores", "run", "--train", "linear"], 2, "drop --scores"),
        (["qrels", "run", "-m", "ndgc"], 2, "ndcg@k, dcg@k"),
        (["qrels", "run", "-m", "ndcg@0"], 2, "cut-off"),
        (["qrels", "run", "--ties", "any"], 2, "pessimistic"),
        (["qrels", "run", "./run"], 1, "run is given twice"),
        (["qrels", "nosuch"], 1, "there is no such file"),
        (["run", "qrels"], 1, "6 fields, not 4"),
        (["qrels", "elsewhere"], 1, "elsewhere: the run and the qrels have no query in common"),
    ],
)
def test_wrong_arguments(words: list[str], code: int, message: str, trec: Path) -> None:
    Path("elsewhere").write_text("9 Q0 a 1 1 t\n")
    assert message in problem("rank-evaluate", *words, code=code)


def test_it_agrees_with_trec_eval_on_its_own_files(benchmark_data: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    files = [str(benchmark_data / "ltr/trec_eval_fixture" / name) for name in ("qrels.test.gz", "results.test.gz")]
    qrels, found = read_qrels(files[0]), read_run(files[1])
    judged: dict[str, dict[str, int]] = {}
    for query, document, relevance in zip(qrels.qid, qrels.doc_id, qrels.relevance, strict=True):
        judged.setdefault(str(query), {})[str(document)] = int(relevance)
    retrieved: dict[str, dict[str, float]] = {}
    for query, document, score in zip(found.qid, found.doc_id, found.score, strict=True):
        retrieved.setdefault(str(query), {})[str(document)] = float(score)
    names = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "R@100": "recall_100", "P@5": "P_5"}
    measures = {"ndcg_cut.10", "map", "recip_rank", "recall.100", "P.5"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(retrieved)
    (system,) = run_json("rank-evaluate", *files, "-m", " ".join(names), "--per-query")["systems"]
    for ours, name in names.items():
        expected = {query: values[name] for query, values in theirs.items()}
        assert system["per_query"][ours] == pytest.approx(expected, abs=1e-9)
        assert system["means"][ours] == pytest.approx(np.mean(list(expected.values())), abs=1e-9)


# -- as a user runs them ------------------------------------------------------------------------------------------


def test_train_predict_evaluate_as_processes(folder: Path, tmp_path: Path) -> None:
    def process(*words: str, **options: bytes) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-W", "error", "-m", "rankwise", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, **options)

    train, vali = (folder / "train.txt").read_bytes(), folder / "vali.txt.gz"
    done = process("rank-train", "-", "-o", "m.rankwise", *QUICK, input=train)
    assert (done.returncode, done.stderr) == (0, b"")
    scores = process("rank-predict", "m.rankwise", vali)
    assert (scores.returncode, scores.stderr) == (0, b"")
    done = process("rank-evaluate", "--letor", vali, "--scores", "-", "--json", input=scores.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert 0 < json.loads(done.stdout)["systems"][0]["means"]["ndcg@10"] < 1


# -- rank-explain -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["m.rankwise", "linear.rankwise"])
def test_effects_of_features_add_up_to_the_difference_of_scores(folder: Path, model: str) -> None:
    ranker = rankwise.load(folder / model)
    X, _, qid = documents(folder / "vali.txt.gz")
    rows = np.flatnonzero(qid == qid[0])
    score = ranker.predict(X[rows])
    first, second = np.argsort(-score, kind="stable")[:2]
    found = run_json("rank-explain", folder / model, folder / "vali.txt.gz", "--query", qid[0])
    assert sum(found["features"].values()) == pytest.approx(score[first] - score[second])
    assert "is above" in found["title"] or "is level with" in found["title"]


def test_importances_have_the_names_of_the_features(folder: Path, tmp_path: Path) -> None:
    ranker = rankwise.load(folder / "m.rankwise")
    names = [f"signal {number}" for number in range(ranker.n_features_in_)]
    (tmp_path / "names.txt").write_text("\n".join(names))
    found = run_json("rank-explain", folder / "m.rankwise", "--names", tmp_path / "names.txt")
    assert found["features"] == pytest.approx(dict(zip(names, ranker.feature_importances_, strict=True)))
    text = run("rank-explain", folder / "m.rankwise", "--top", "2").stdout.splitlines()
    assert text[3].startswith(f"feature {ranker.feature_importances_.argmax() + 1}")
    (tmp_path / "names.txt").write_text("one")
    assert "has 1 lines" in problem("rank-explain", folder / "m.rankwise", "--names", tmp_path / "names.txt")


def test_documents_to_compare_must_exist(folder: Path) -> None:
    words = ("rank-explain", folder / "m.rankwise", folder / "vali.txt.gz")
    assert "query 999 has 0 documents" in problem(*words, "--query", "999")
    assert "has no document X" in problem(*words, "--query", "21", "--above", "X")
    assert "both FILE and --query" in problem(*words, code=2)


def test_presets_are_lightgbms_trees_and_a_blend(folder: Path, tmp_path: Path) -> None:
    words = ("rank-train", folder / "train.txt", "--force", "-o", tmp_path / "m.rankwise")
    quick = ("--param", "n_estimators=3")
    run(*words, "--preset", "lightgbm", *quick)
    found = rankwise.load(tmp_path / "m.rankwise")
    assert (found.tree, type(found.booster_).__name__) == ("leaf", "LightGBMTrees")
    run(*words, *quick)
    assert rankwise.load(tmp_path / "m.rankwise").tree == "level"
    run(*words, "--preset", "blend", "--param", "cv=2")
    assert set(rankwise.load(tmp_path / "m.rankwise").weights_) == {"lambdarank", "query_rmse", "linear"}
    assert "has no importances of its own" in problem("rank-explain", tmp_path / "m.rankwise")
    assert "a linear ranker has no presets" in problem(*words, "--model", "linear", "--preset", "blend", code=2)
