"""What is saved and loaded says the same, bit for bit; what cannot be saved is refused by name."""

from __future__ import annotations

import importlib
import json
import os
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.preprocessing import StandardScaler

import rankwise
from rankwise import RankwiseFormatError
from rankwise.embeddings import SubmodularEmbedding
from rankwise.label_ranking import (
    DummyRanker,
    KernelRanker,
    LabelwiseRanker,
    RankingForest,
    RankingTree,
    StackedRanker,
)
from rankwise.ltr import LambdaMART, NeuralRanker
from rankwise.persistence import files
from rankwise.persistence.classes import MODULES
from rankwise.persistence.upgrades import FORMAT_VERSION
from rankwise.trees import LeastSquaresTree
from tests.persistence.fitted import features, fitted_label_rankers, fitted_others, rankings
from tests.persistence.make_golden import GOLDEN, golden_models


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rankwise"


def there_and_back(estimator, path):
    rankwise.save(estimator, path)
    return rankwise.load(path)


def manifest_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("manifest.json"))


@pytest.mark.parametrize("kind", ["full", "tied", "top-k", "incomplete"])
def test_label_rankers_predict_the_same_bit_for_bit(kind, path):
    for ranker, says in fitted_label_rankers(kind):
        loaded = there_and_back(ranker, path)
        assert type(loaded) is type(ranker)
        assert loaded.items_ == ranker.items_
        assert [type(name) for name in loaded.items_] == [type(name) for name in ranker.items_]
        np.testing.assert_array_equal(says(loaded), says(ranker), err_msg=repr(ranker))


def test_all_others_say_the_same_bit_for_bit(path):
    for estimator, says in fitted_others():
        np.testing.assert_array_equal(says(there_and_back(estimator, path)), says(estimator), err_msg=repr(estimator))


@pytest.mark.parametrize(
    "options",
    [
        {"attention": False},
        {"attention": True, "n_no_ops": 2},
        {"quantile_transform": True, "n_crosses": 2, "n_networks": 2},
    ],
)
def test_neural_rankers_say_the_same_bit_for_bit(options, path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    X, y, qid, _ = rankwise.datasets.make_retrieval(15, random_state=0)
    ranker = NeuralRanker(**options, n_blocks=2, n_epochs=2, random_state=0).fit(X, y, qid=qid)
    loaded = there_and_back(ranker, path)
    np.testing.assert_array_equal(loaded.predict(X, qid), ranker.predict(X, qid))
    assert loaded.history_ == ranker.history_


def test_every_class_that_a_file_may_hold_is_saved_by_some_estimator_here(path):
    met = set()
    for estimator, _ in [*fitted_label_rankers("full"), *fitted_others()]:
        rankwise.save(estimator, path)
        met |= {record["class"] for record in manifest_of(path)["objects"]}
    X, y = frame_and_rankings()
    rankwise.save(StackedRanker([("dummy", DummyRanker()), ("linear", KernelRanker())], cv=2).fit(X, y), path)
    met |= {record["class"] for record in manifest_of(path)["objects"]}
    assert met | {"NeuralRanker"} == set(MODULES)


def test_every_public_estimator_can_be_saved():
    public = set()
    for module in ("aggregation", "embeddings", "trees", "label_ranking", "ltr", "kernels", "screening"):
        loaded = importlib.import_module(f"rankwise.{module}")
        things = [getattr(loaded, name) for name in loaded.__all__]
        public |= {thing.__name__ for thing in things if isinstance(thing, type) and issubclass(thing, BaseEstimator)}
    # which hold a function and a kernel of scikit-learn
    assert public - set(MODULES) == {"SubmodularEmbedding", "VariationalClassifier"}


def frame_and_rankings():
    X = pd.DataFrame(features(), columns=["age", "income", "size"])
    X["town"] = np.resize(["Rome", "Oslo", "Bonn"], len(X))
    X.loc[3, "age"] = np.nan
    return X, rankings("full")


@pytest.mark.parametrize(
    "estimator",
    [
        RankingTree(max_depth=4, random_state=0),
        RankingForest(5, random_state=0),
        StackedRanker([("forest", RankingForest(3)), ("kernel", KernelRanker())], cv=2, random_state=0),
    ],
)
def test_data_frames_with_categories_and_missing_values(estimator, path):
    X, y = frame_and_rankings()
    ranker = clone(estimator).fit(X, y)
    loaded = there_and_back(ranker, path)
    np.testing.assert_array_equal(loaded.predict_pairwise(X), ranker.predict_pairwise(X))
    assert loaded.feature_names_in_.tolist() == ["age", "income", "size", "town"]
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(X[["income", "age", "size", "town"]])


def test_query_rankers_go_on_learning_after_loading(path):
    X, y, qid, _ = rankwise.datasets.make_retrieval(15, random_state=0)
    ranker = LambdaMART(3, warm_start=True, random_state=0).fit(X, y, qid=qid)
    loaded = there_and_back(ranker, path).set_params(n_estimators=6).fit(X, y, qid=qid)
    whole = ranker.set_params(n_estimators=6).fit(X, y, qid=qid)
    np.testing.assert_array_equal(loaded.predict(X), whole.predict(X))
    np.testing.assert_array_equal(loaded.explain(X, 0, 1), whole.explain(X, 0, 1))


def test_parameters_come_back_as_they_were(path):
    center = np.array([2.0, 1.0, 3.0])
    assert there_and_back(RankingTree(max_depth=np.int64(3), ccp_alpha=0.25), path).get_params() == {
        **RankingTree().get_params(),
        "max_depth": 3,
        "ccp_alpha": 0.25,
    }
    loaded = there_and_back(rankwise.aggregation.Mallows(theta=np.inf, center=center), path)
    assert loaded.theta == np.inf
    np.testing.assert_array_equal(loaded.center, center)
    loaded = there_and_back(LambdaMART(gain={0: 0.0, 1: 1.5}, categorical_features=np.array(["a", "bc"])), path)
    assert loaded.gain == {0: 0.0, 1: 1.5}
    assert loaded.categorical_features.tolist() == ["a", "bc"]


@pytest.mark.parametrize(
    "generator",
    [
        np.random.default_rng(4),
        np.random.Generator(np.random.MT19937(4)),
        np.random.Generator(np.random.SFC64(4)),
        np.random.Generator(np.random.PCG64DXSM(4)),
        np.random.RandomState(4),
    ],
    ids=lambda generator: type(getattr(generator, "bit_generator", generator)).__name__,
)
def test_random_generators_go_on_where_they_stood(generator, path):
    generator.normal(size=3)
    loaded = there_and_back(RankingTree(random_state=generator), path).random_state
    assert type(loaded) is type(generator)
    assert loaded.normal() == generator.normal()


def test_the_trees_of_a_forest_share_their_rankings_before_and_after(path):
    forest = RankingForest(5, bootstrap=False, random_state=0).fit(features(), rankings("full"))
    assert len({id(tree.contents.targets) for tree in forest.trees_}) == 1
    loaded = there_and_back(forest, path)
    assert len({id(tree.contents.targets) for tree in loaded.trees_}) == 1


def test_equal_models_make_equal_files_that_hold_the_names(path, tmp_path):
    X, y = frame_and_rankings()
    tree = RankingTree(max_depth=2).fit(X, y)
    rankwise.save(tree, path)
    rankwise.save(rankwise.load(path), tmp_path / "again.rankwise")
    assert path.read_bytes() == (tmp_path / "again.rankwise").read_bytes()
    manifest = manifest_of(path)
    root = manifest["objects"][-1]
    assert (manifest["format_version"], manifest["class"]) == (FORMAT_VERSION, "RankingTree")
    assert manifest["rankwise_version"] == rankwise.__version__
    assert root["parameters"]["max_depth"] == 2
    assert root["state"]["items_"] == {"tuple": ["tea", 2, {"tuple": [1, "x"]}, 4.5, True]}
    assert root["state"]["feature_names_in_"] == {"mixed": [[4], ["age", "income", "size", "town"]]}


def test_a_saved_model_is_whole_or_not_there(path):
    rankwise.save(DummyRanker(), path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        rankwise.save(LabelwiseRanker(RandomForestRegressor()), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["model.rankwise"]
    assert path.stat().st_mode & 0o444 == 0o444 & ~_umask()


def _umask():
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask


class Mine(RankingTree):
    """A class that no file may name."""


@pytest.mark.parametrize(
    ("estimator", "where"),
    [
        (LabelwiseRanker(RandomForestRegressor()), r"LabelwiseRanker\.regressor is of type sklearn\.ensemble"),
        (KernelRanker(np.dot), r"KernelRanker\.kernel is "),
        (SubmodularEmbedding(len), "SubmodularEmbedding is of type"),
        (LambdaMART(gain=lambda grade: grade), r"LambdaMART\.gain is the function .*<lambda>"),
        (Mine(), r"Mine is of type tests\.persistence\.test_files\.Mine"),
        (StackedRanker([("mine", Mine())]), r"StackedRanker\.rankers\[0\]\[1\] is of type"),
        (StandardScaler, "^the class StandardScaler is not an estimator"),
        ({"tree": RankingTree()}, "^an object of type dict is not an estimator"),
        (rankwise.aggregation.kemeny([[1, 2]]), "^an object of type Consensus is not an estimator"),
        (RankingTree(random_state=np.random.Generator(np.random.Philox(1))), "Philox"),
        (rankwise.aggregation.Mallows(center=np.zeros(2, dtype=complex)), r"Mallows\.center is an array of complex128"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,  # no addresses: workers compare
)
def test_what_a_file_cannot_hold_is_refused_by_name(estimator, where, path):
    with pytest.raises((TypeError, ValueError), match=where):
        rankwise.save(estimator, path)
    assert not path.exists()


def test_refusals_say_what_to_use_instead(path):
    with pytest.raises(TypeError, match=r"joblib\.dump or skops\.io\.dump"):
        rankwise.save(LabelwiseRanker(RandomForestRegressor()), path)


def test_strange_attributes_and_models_fitted_in_part_are_refused(path):
    tree = LeastSquaresTree().fit([[1], [2]], [1.0, 2.0])
    tree.note = "mine"
    with pytest.raises(TypeError, match="LeastSquaresTree cannot be saved: note is not a part"):
        rankwise.save(tree, path)
    del tree.note, tree._encoder
    with pytest.raises(TypeError, match="_encoder of a LeastSquaresTree is missing"):
        rankwise.save(tree, path)


def test_item_names_that_json_cannot_tell_are_refused(path):
    ranker = DummyRanker().fit([[0.0]], [[1, 2]])
    ranker.items_ = (pd.Timestamp(0), "b")
    with pytest.raises(TypeError, match=r"DummyRanker\.items_\[0\] is of type pandas"):
        rankwise.save(ranker, path)


def test_newer_formats_are_refused_with_the_cure(path, monkeypatch):
    monkeypatch.setattr(files, "FORMAT_VERSION", FORMAT_VERSION + 1)
    rankwise.save(DummyRanker(), path)
    monkeypatch.undo()
    says = rf"model\.rankwise: the file has format {FORMAT_VERSION + 1}.*pip install -U rankwise"
    with pytest.raises(RankwiseFormatError, match=says):
        rankwise.load(path)


@pytest.mark.parametrize("model", sorted(GOLDEN.glob("*.rankwise")), ids=lambda model: model.stem)
def test_files_of_earlier_formats_load_for_ever(model):
    if model.stem.endswith("neural"):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    expected = json.loads((GOLDEN / "predictions.json").read_text("utf-8"))[model.stem]
    loaded = rankwise.load(model)
    assert type(loaded).__name__ == expected["class"]
    says = getattr(loaded, expected.get("method", "predict"))
    predicted = says(np.array(expected["X"])) * 1.0
    np.testing.assert_allclose(predicted, expected["predictions"], rtol=expected.get("rtol", 1e-12))
    assert model.stat().st_size < 30_000


def test_the_table_of_an_earlier_selector_has_the_columns_of_today():
    table = rankwise.load(GOLDEN / "1-concordance-selector.rankwise").table_
    assert list(table) == ["feature", "divergence", "z", "p_value", "adjusted", "complexity", "round"]


def test_there_is_a_golden_file_of_every_kind_and_none_without_a_saying():
    stems = {model.stem for model in GOLDEN.glob("*.rankwise")}
    made = {f"{version}-{kind}" for kind, *_ in golden_models() for version in range(1, FORMAT_VERSION + 1)}
    assert stems >= made | {"1-ranking-tree", "1-ranking-forest", "1-pairwise", "1-lambdamart"}
    assert stems == set(json.loads((GOLDEN / "predictions.json").read_text("utf-8"))) - {"_source"}


def test_files_that_are_not_there_are_missing_files_not_bad_ones(tmp_path):
    with pytest.raises(FileNotFoundError):
        rankwise.load(tmp_path / "none.rankwise")
    with pytest.raises(IsADirectoryError, match=r"is a folder; give a file that rankwise\.save wrote"):
        rankwise.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        rankwise.save(DummyRanker(), tmp_path / "no" / "model.rankwise")


def test_only_paths_are_opened(tmp_path):
    for path in (0, 1, True, None, 1.5):  # a number is a file that is open already, as is standard output
        with pytest.raises(TypeError, match="give the name of a file"):
            rankwise.load(path)
    with pytest.raises(RankwiseFormatError, match="no such file"):
        rankwise.load("model\0.rankwise")
    with pytest.raises(OSError, match="name too long"):
        rankwise.load("m" * 10_000)
    os.mkfifo(tmp_path / "pipe.rankwise")
    for path in (tmp_path / "pipe.rankwise", "/dev/zero"):
        with pytest.raises(RankwiseFormatError, match="pipe or a device"):
            rankwise.load(path)


@pytest.mark.parametrize("max_bytes", [0, -1, 2.0, "all"])
def test_max_bytes_is_a_whole_number(max_bytes, path):
    rankwise.save(DummyRanker(), path)
    with pytest.raises((TypeError, ValueError), match="max_bytes"):
        rankwise.load(path, max_bytes=max_bytes)
