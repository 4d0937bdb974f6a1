from __future__ import annotations

import gzip

import numpy as np
import pytest

from rankwise import Rankings, RankwiseFormatError
from rankwise.datasets import load_label_ranking, load_retrieval

SHIPPED = {
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "breast-cancer": (569, 30, 2),
    "digits": (1797, 64, 10),
    "diabetes": (442, 4, 6),
}
SMALL_CSV = "x1,x2,y_a,y_b,y_c\n0.5,1,3,1,2\n-1,2e-3,1,2,3\n"


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch):
    monkeypatch.delenv("RANKWISE_DATA", raising=False)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_label_rankings(name):
    data = load_label_ranking(name)
    n, d, k = SHIPPED[name]
    assert data.X.shape == (n, d)
    assert data.y.shape == (n, k)
    assert data.y.kind == "full"
    assert len(data.feature_names) == d
    assert str(n) in data.description
    assert data.source is None
    X, y = load_label_ranking(name, return_X_y=True)
    assert np.array_equal(X, data.X)
    assert y == data.y


def test_the_winner_is_mostly_the_true_class():
    from sklearn.datasets import load_wine

    winner = load_label_ranking("wine").y.positions.argmin(axis=1)
    assert np.mean(winner == load_wine().target) > 0.97


@pytest.mark.parametrize(("name", "share"), [("iris", 0.98), ("wine", 0.99)])
def test_shipped_sets_equal_the_published_ones(benchmark_data, name, share):
    ours, published = load_label_ranking(name), load_label_ranking(name, data_home=benchmark_data)
    low, high = ours.X.min(axis=0), ours.X.max(axis=0)
    scaled = 2 * (ours.X - low) / (high - low) - 1  # as the published features are; iris differs in two rows
    assert np.mean(np.abs(scaled - published.X).max(axis=1) < 1e-4) > 0.98
    assert np.mean(np.all(ours.y.positions == published.y.positions, axis=1)) >= share


def test_published_files(benchmark_data, monkeypatch):
    monkeypatch.setenv("RANKWISE_DATA", str(benchmark_data))
    glass = load_label_ranking("glass")
    assert glass.X.shape == (214, 9)
    assert glass.y.items == tuple("abcdef")
    assert glass.y.kind == "full"
    assert glass.source.endswith("glass.csv.gz")


@pytest.mark.parametrize("subfolder", ["", "label-ranking"])
def test_a_file_of_ones_own(tmp_path, subfolder, monkeypatch):
    folder = tmp_path / subfolder
    folder.mkdir(exist_ok=True)
    (folder / "small.csv.gz").write_bytes(gzip.compress(SMALL_CSV.encode()))
    data = load_label_ranking("small", data_home=tmp_path)
    assert data.X.tolist() == [[0.5, 1], [-1, 0.002]]
    assert data.y == Rankings([[3, 1, 2], [1, 2, 3]], items=list("abc"))
    assert data.feature_names == ["x1", "x2"]
    monkeypatch.setenv("RANKWISE_DATA", str(tmp_path))
    assert load_label_ranking("small").y == data.y


def test_a_file_comes_before_the_shipped_set(tmp_path):
    (tmp_path / "iris.csv.gz").write_bytes(gzip.compress(SMALL_CSV.encode()))
    assert len(load_label_ranking("iris", data_home=tmp_path).y) == 2


def test_an_unknown_name_lists_what_there_is(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"'irsi'. Without files: iris, wine, .* set RANKWISE_DATA .* or data_home"):
        load_label_ranking("irsi")
    (tmp_path / "small.csv.gz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"Without files: iris, .* In .*: small"):
        load_label_ranking("irsi", data_home=tmp_path)
    with pytest.raises(ValueError, match=r"data_home names .* which is not a folder"):
        load_label_ranking("iris", data_home=tmp_path / "absent")
    monkeypatch.setenv("RANKWISE_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="the environment variable RANKWISE_DATA names"):
        load_label_ranking("iris")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("x1,x2\n1,2\n", "line 1: there are 2 feature and 0 label columns. Features are named x1"),
        ("y_a,y_b\n1,2\n", "line 1: there are 0 feature and 2 label columns"),
        ("x1,age,y_a,y_b\n1,30,1,2\n", "line 1, column 2: the column 'age' is neither .* rename it or leave it out"),
        ("x1,x,y_a\n1,1,1\n", "line 1, column 2: the column 'x' is neither a feature nor a label"),
        ("x1,y_a,y_\n1,1,2\n", "line 1, column 3: the column 'y_' is neither a feature nor a label"),
        ("x1,y_a,y_b\n1,one,2\n", "line 2, column 2: 'one' is not a number"),
        ("x1,y_a,y_b\n1,1,2\n,1,2\n", "line 3, column 1: '' is not a number"),
        ("x1,y_a,y_b\n1,2,1\n\n1,1,0\n", "line 4, column 3: 0 is not a position. Positions count from 1"),
        ("x1,y_a,y_b\n1,2\n", "line 2: this row has 2 cells"),
    ],
)
def test_malformed_files(tmp_path, text, fragment):
    (tmp_path / "bad.csv.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(RankwiseFormatError, match=fragment) as caught:
        load_label_ranking("bad", data_home=tmp_path)
    assert caught.value.path.endswith("bad.csv.gz")


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return folder


TRAIN = "2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1\n1 qid:2 2:3\n"
VALI = "1 qid:5 1:7\n"
TEST = "0 qid:9 3:4\n"


def test_synthetic_retrieval_is_split_by_query():
    data = load_retrieval("synthetic")
    assert data.X.shape == (len(data.y), 20)
    queries = [set(data.qid[rows].tolist()) for rows in data.splits.values()]
    assert list(data.splits) == ["train", "vali", "test"]
    assert [len(q) for q in queries] == [60, 20, 20]
    assert sum(map(len, data.splits.values())) == len(data.y)
    assert np.array_equal(data.X, load_retrieval("synthetic").X)


def test_letor_folder(tmp_path):
    data = load_retrieval(write(tmp_path / "mq", train__txt=TRAIN, vali__txt=VALI, test__txt__gz=TEST))
    assert data.X.tolist() == [[0.5, 1, 0], [0.1, 0, 0], [0, 3, 0], [7, 0, 0], [0, 0, 4]]
    assert data.y.tolist() == [2, 0, 1, 1, 0]
    assert data.qid.tolist() == [1, 1, 2, 5, 9]
    assert {name: rows.tolist() for name, rows in data.splits.items()} == {"train": [0, 1, 2], "vali": [3], "test": [4]}


@pytest.mark.parametrize("name", ["vali", "valid", "validation", "dev"])
@pytest.mark.parametrize("form", ["{}__txt", "{}__txt__gz", "set1__{}"])
def test_names_of_the_validation_part(tmp_path, name, form):
    data = load_retrieval(write(tmp_path, train__txt=TRAIN, test__txt=TEST, **{form.format(name): VALI}))
    assert list(data.splits) == ["train", "vali", "test"]
    assert data.qid[data.splits["vali"]].tolist() == [5]


@pytest.mark.parametrize("name", ["README__txt", "read_me__txt", "License__txt", "notes__txt", "___train__txt"])
def test_texts_for_readers_are_no_data(tmp_path, name):
    assert len(load_retrieval(write(tmp_path, train__txt=TRAIN, **{name: "About these data."})).y) == 3


def test_texts_above_the_folds_are_not_read(tmp_path):
    write(tmp_path / "mq", S1__txt=TRAIN)
    write(tmp_path / "mq" / "Fold1", train__txt=TRAIN)
    assert len(load_retrieval(tmp_path / "mq").y) == 3


def test_folds(tmp_path):
    write(tmp_path / "ltr" / "mq" / "Fold1", train__txt=TRAIN, test__txt=TEST)
    write(tmp_path / "ltr" / "mq" / "Fold2", train__txt=VALI, test__txt=TEST)
    assert len(load_retrieval("mq", data_home=tmp_path).y) == 4
    assert load_retrieval("mq", fold=2, data_home=tmp_path).qid.tolist() == [5, 9]
    with pytest.raises(RankwiseFormatError, match="or Fold3 with them"):
        load_retrieval("mq", fold=3, data_home=tmp_path)
    with pytest.raises(TypeError, match="fold is '1'; give a whole number"):
        load_retrieval("mq", fold="1", data_home=tmp_path)


def test_sizes_of_queries_in_files_beside(tmp_path):
    files = {"rank__train": "1 1:1\n0 1:2\n0 1:3\n", "rank__train__query": "2\n1\n"}
    folder = write(tmp_path, **files, rank__test__gz="0 1:4\n1 2:1\n", rank__test__query__gz="2\n")
    data = load_retrieval(folder)
    assert data.qid.tolist() == [1, 1, 2, 3, 3]
    assert data.splits["test"].tolist() == [3, 4]


def test_lightgbm_example(benchmark_data):
    data = load_retrieval("lightgbm_example", data_home=benchmark_data)
    assert data.X.shape == (3773, 300)
    assert {name: len(rows) for name, rows in data.splits.items()} == {"train": 3005, "test": 768}
    assert len(np.unique(data.qid[data.splits["train"]])) == 201
    assert len(np.unique(data.qid[data.splits["test"]])) == 50


@pytest.mark.parametrize(
    ("files", "fragment"),
    [
        ({"notes__md": "x"}, "holds no learning-to-rank files"),
        ({"train__txt": TRAIN, "train": TRAIN}, "both train and train.txt could be the train part"),
        ({"train__txt": "1 1:1\n"}, "there is no file of query sizes.*train.txt.query"),
        (
            {"train__txt": "1 1:1\n", "train__txt__query": "two\n"},
            "train.txt.query, line 1: 'two' is not the size of a query. Write how many rows of train.txt each",
        ),
        ({"train__txt": "1 1:1\n", "train__txt__query": "1\n0\n"}, "query, line 2: '0' is not the size .* 1 or more"),
        (
            {"train__txt": "1 1:1\n", "train__txt__query": "2\n"},
            "the sizes add up to 2, but train.txt has 1 rows. Write one size for every query",
        ),
        (
            {"train__txt": TRAIN, "test__txt": "1 1:1\n"},
            "test.txt: rows have no qid, but those of the other files do. Write qid:<query>",
        ),
        (
            {"train__txt": TRAIN, "vali__txt": VALI, "dev__txt": TEST},
            "both dev.txt and vali.txt could be the vali",
        ),
        (
            {"train__txt": TRAIN, "heldout__txt": TEST},
            "heldout.txt: this is none of the parts .* Rename it, or",
        ),
        ({"train__txt": TRAIN, "Test__txt__gz": TEST}, "Test.txt.gz: this is none of the parts"),
        ({"train__txt": TRAIN, "test__txt": TRAIN}, "test.txt: query 1 is in the train part too"),
    ],
)
def test_unfit_folders(tmp_path, files, fragment):
    with pytest.raises(RankwiseFormatError, match=fragment):
        load_retrieval(write(tmp_path, **files))


def test_no_such_folder(tmp_path):
    with pytest.raises(ValueError, match=r"no folder mq nor .*mq nor .*; give the folder .* RANKWISE_DATA .*synthetic"):
        load_retrieval("mq", data_home=tmp_path)
