"""Files with right checksums and wrong contents: nothing that compiled code trusts gets past."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

import rankwise
from rankwise import RankwiseFormatError
from rankwise.aggregation import GeneralizedMallows, Mallows, MallowsMixture, PlackettLuce
from rankwise.datasets import make_retrieval
from rankwise.embeddings import GraphCutEmbedding
from rankwise.label_ranking import (
    ClusterRanker,
    ConformalRanker,
    DummyRanker,
    KernelRanker,
    LabelwiseRanker,
    NearestNeighborsRanker,
    PairwiseRanker,
    PlackettLuceRanker,
    RankingForest,
    RankingTree,
    StackedRanker,
)
from rankwise.ltr import LambdaMART, LinearRanker, NeuralRanker
from rankwise.persistence import classes
from rankwise.persistence.allowed import ALLOWED
from rankwise.persistence.classes import EXTERNALS, recipe_named
from rankwise.screening import ConcordanceSelector, ScoreSelector, SymbolicFeatures
from rankwise.trees import LeastSquaresForest, engine
from tests.persistence.damage import forge, record_of, set_array, set_part
from tests.persistence.fitted import features, fitted_bart_selector, rankings


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rankwise"


def put(place, value):
    """Change one entry."""

    def change(array):
        array[place] = value

    return change


def longer(array):
    return np.concatenate([array, array])


def forged_is_refused(estimator, change, match, path):
    rankwise.save(estimator, path)
    forge(path, change)
    with pytest.raises(RankwiseFormatError, match=match):
        rankwise.load(path)


def regressor_as_ranker(manifest, arrays):
    """A regressor takes the place of the ranker that a StackedRanker blends."""
    objects = manifest["objects"]
    fitted = next(i for i, record in enumerate(objects) if record["class"] == "Ridge" and record["state"])
    record_of(manifest, "StackedRanker")["state"]["rankers_"]["dict"][0][1]["object"] = fitted


def no_quantiles(manifest, arrays):
    """A fitted transformer without quantiles; the first of its class is a parameter, and not fitted."""
    states = [record["state"] for record in manifest["objects"] if record["class"] == "QuantileTransformer"]
    place = next(state["references_"]["array"] for state in states if state)
    arrays[place] = arrays[place][:0]


X = features()
Y = rankings("full")
CATEGORIES = np.column_stack([X, np.resize([0.0, 1.0, 2.0], len(X))])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_array("Tree", "left", put(0, 0)), "child before its parent"),
        (set_array("Tree", "left", put(0, 10**6)), "child before its parent, or outside"),
        (set_array("Tree", "left", put(0, -1)), "no parent"),
        (set_array("Tree", "left", put(-1, 2)), "child before"),
        (set_array("Tree", "left", put(-1, -(2**31))), None),
        (set_array("Tree", "left", longer), "different numbers of parts"),
        (set_array("Tree", "left", lambda a: a.astype(np.int64)), "left of a Tree is not an array of int32"),
        (set_array("Tree", "left", lambda a: a[:0]), "different numbers|no parts"),
        (set_array("Tree", "left", lambda a: a[:, None]), "with 1 axes"),
        (set_array("Tree", "feature", put(0, 4)), "feature that does not exist"),
        (set_array("Tree", "feature", put(0, -1)), "has no feature"),
        (set_array("Tree", "set_of", put(0, 0)), "set of categories"),
        (set_array("Tree", "threshold", lambda a: a[:-1]), "different numbers of parts"),
        (set_array("LeafMeans", "values", longer), "other contents than leaves"),
        (set_array("LeafMeans", "values", put((0, 0), np.nan)), "probability"),
        (set_array("LeafMeans", "values", put((0, 0), 1.5)), "probability"),
        (set_array("LeafMeans", "values", lambda a: a[:, :-1]), "predict something else"),
        (set_array("RankingTree", "leaf_positions_", longer), "rankings of the leaves"),
        (set_part("RankingTree", "n_features_in_", 1), "categories and features differ"),
        (set_part("RankingTree", "n_features_in_", -4), "not an integer"),
        (set_part("RankingTree", "items_", {"tuple": ["a", "b"]}), "predict something else"),
        (set_part("RankingTree", "items_", {"tuple": ["a", "a", "b", "c", "d"]}), "two items are named"),
        (set_part("RankingTree", "items_", {"tuple": [[1], "a", "b", "c", "d"]}), "names of items"),
        (set_part("RankingTree", "tree_", None), "tree_ of a RankingTree is not a Tree"),
        (set_part("RankingTree", "tree_", {"object": 0}), "is not a Tree|predict"),
        (set_part("RankingTree", "predict", 3), "predict is not a part"),
        (set_part("RankingTree", "__class__", "x"), "__class__ is not a part"),
        (set_part("RankingTree", "max_depth", "deep", "parameters"), "max_depth"),
        (set_part("RankingTree", "self", 3, "parameters"), "TypeError"),
        (set_part("RankingTree", "unknown", 3, "parameters"), "TypeError"),
        (set_part("Tree", "contents", None, "parameters"), "a Tree has no parameters"),
        (set_part("FeatureEncoder", "categories_", [None, None]), "categories and features differ"),
        (set_part("FeatureEncoder", "categories_", [[1, 1], None, None, None]), "categories are the same"),
    ],
)
def test_trees(change, match, path):
    tree = RankingTree(max_depth=3).fit(CATEGORIES, Y)
    if match is None:  # a negative child is a leaf, whatever the number
        rankwise.save(tree, path)
        forge(path, change)
        assert np.isfinite(rankwise.load(path).predict(CATEGORIES)).all()
    else:
        forged_is_refused(tree, change, match, path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_array("Tree", "set_of", put(0, 10**6)), "set of categories that does not exist"),
        (set_array("Tree", "sets", lambda a: a[:, :0]), "does not fit its feature"),
        (set_part("FeatureEncoder", "categories_", [None, None, None, None]), "does not fit its feature"),
        (set_part("FeatureEncoder", "categories_", [None, None, None, list(range(65))]), "does not fit its feature"),
    ],
)
def test_sets_of_categories(change, match, path):
    y = np.where(CATEGORIES[:, 3:] == 1, np.arange(1.0, 6.0), np.arange(5.0, 0.0, -1.0))
    tree = RankingTree(max_depth=1, categorical_features=[3]).fit(CATEGORIES, y)
    assert tree.tree_.set_of[0] >= 0
    forged_is_refused(tree, change, match, path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_array("LeafRows", "rows", put(0, 40)), "row that does not exist"),
        (set_array("LeafRows", "rows", put(0, -1)), "row that does not exist"),
        (set_array("LeafRows", "start", put(1, 10**6)), "share rows"),
        (set_array("LeafRows", "start", put(0, -1)), "share rows"),
        (set_array("LeafRows", "weights", longer), "no weights"),
        (set_array("LeafRows", "weights", put(0, 0.0)), "no weights"),
        (set_array("TargetRows", "values", put((0, 0), np.nan)), "order all pairs"),
        (set_part("TargetRows", "is_pairs", False), "not rankings"),
        (set_array("TargetRows", "values", lambda a: a[:5]), "row that does not exist"),
        (set_array("TargetRows", "values", lambda a: a.astype(np.float32)), "float64"),
        (set_part("RankingForest", "trees_", []), "no trees"),
        (set_part("RankingForest", "trees_", {"tuple": []}), "list of a Tree"),
        (set_array("RankingForest", "_tree_weights", lambda a: a[:1]), "weights of the trees"),
    ],
)
def test_forests(change, match, path):
    forest = RankingForest(5, focus="item", bootstrap=False, random_state=0).fit(X, Y)
    forged_is_refused(forest, change, match, path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_array("LeafGaps", "rows", put(0, 40)), "row that does not exist"),
        (set_array("LeafGaps", "start", put(1, 10**6)), "share rows"),
        (set_array("LeafGaps", "start", lambda a: a[:-1]), "share rows"),
        (set_array("LeafGaps", "weights", longer), "no weights"),
        (set_array("LeafGaps", "weights", put(0, 0.0)), "no weights"),
        (set_array("LeafGaps", "parent", put(0, 0)), "no root"),
        (set_array("LeafGaps", "parent", put(1, 1)), "before the one above"),
        (set_array("LeafGaps", "parent", put(2, -1)), "before the one above"),
        (set_array("LeafGaps", "parent", longer), "before the one above|other leaves|other cells"),
        (set_array("LeafGaps", "usual", longer), "one for every pair"),
        (set_array("LeafGaps", "usual", put(0, 1.5)), "between 0 and 1"),
        (set_part("TargetRows", "is_pairs", False), "not rankings"),
    ],
)
def test_forests_with_gaps(change, match, path, monkeypatch):
    monkeypatch.setattr(engine, "_MOST_SHARES", 0)
    forest = RankingForest(5, random_state=0).fit(X, rankings("incomplete"))
    forged_is_refused(forest, change, match, path)


QUERIES = make_retrieval(10, random_state=0)[:3]


def query_ranker(ranker):
    return ranker.fit(QUERIES[0], QUERIES[1], qid=QUERIES[2])


@pytest.mark.parametrize(
    ("make", "change", "match"),
    [
        (lambda: LeastSquaresForest(2).fit(X, X), set_part("LeastSquaresForest", "n_outputs_", 2), "something else"),
        (lambda: DummyRanker().fit(X, Y), set_array("DummyRanker", "positions_", longer), "positions"),
        (
            lambda: NearestNeighborsRanker(3).fit(X, Y),
            set_part("NearestNeighborsRanker", "n_neighbors_", 41),
            "rows and rankings",
        ),
        (
            lambda: NearestNeighborsRanker(3).fit(X, Y),
            set_array("NearestNeighbors", "rows", longer),
            "rows and rankings differ",
        ),
        (
            lambda: NearestNeighborsRanker(3).fit(X, Y),
            set_array("NearestNeighborsRanker", "_marginal", longer),
            "shares of all rows",
        ),
        (
            lambda: NearestNeighborsRanker(3).fit(X, Y),
            set_array("Rankings", "positions", put((0, 0), -1.0)),
            "positions",
        ),
        (
            lambda: NearestNeighborsRanker(3).fit(X, Y),
            set_part("NearestNeighbors", "algorithm", "none", "parameters"),
            "algorithm",
        ),
        (
            lambda: LabelwiseRanker(Ridge()).fit(X, Y),
            set_part("LabelwiseRanker", "regressors_", []),
            "regressor for each item",
        ),
        (lambda: PairwiseRanker().fit(X, Y), set_part("PairwiseRanker", "classifiers_", [0.5]), "classifier for each"),
        (
            lambda: PairwiseRanker().fit(X, Y),
            set_array("LogisticRegression", "coef_", lambda a: a[:, :2]),
            "coefficients",
        ),
        (lambda: PairwiseRanker().fit(X, Y), set_array("StandardScaler", "mean_", longer), "means and scales"),
        (lambda: PairwiseRanker().fit(X, Y), set_part("StandardScaler", "mean_", None), "are missing"),
        (lambda: PairwiseRanker().fit(X, Y), set_part("PairwiseRanker", "classifiers_", [2] * 10), "classifiers_"),
        (
            lambda: PairwiseRanker().fit(X, Y),
            set_array("LogisticRegression", "classes_", put(0, True)),
            "no classes",
        ),
        (
            lambda: LabelwiseRanker(Ridge()).fit(X, Y),
            set_part("LabelwiseRanker", "regressors_", [{"object": 0}] * 4 + [None]),
            "regressors_",
        ),
        (lambda: KernelRanker().fit(X, Y), set_part("KernelRanker", "_scaler", None), "_scaler"),
        (lambda: KernelRanker().fit(X, Y), set_array("KernelRanker", "_centers", longer), "centers"),
        (lambda: PlackettLuceRanker().fit(X, Y), set_array("PlackettLuceRanker", "coef_", longer), "coefficients"),
        (lambda: ClusterRanker(3).fit(X, Y), set_array("KMeans", "cluster_centers_", lambda a: a[:, :2]), "centers"),
        (
            lambda: ClusterRanker(3).fit(X, Y),
            set_array("ClusterRanker", "_pairwise", put((0, 0, 1), 2.0)),
            "probability",
        ),
        (
            lambda: StackedRanker([("a", DummyRanker())], cv=2).fit(X, Y),
            set_part("StackedRanker", "weights_", {"dict": []}),
            "no weight",
        ),
        (
            lambda: StackedRanker([("a", LabelwiseRanker(Ridge()))], cv=2).fit(X, Y),
            regressor_as_ranker,
            "is not a label ranker",
        ),
        (
            lambda: LabelwiseRanker(make_pipeline(QuantileTransformer(n_quantiles=9), Ridge())).fit(X, Y),
            no_quantiles,
            "no quantiles",
        ),
        (fitted_bart_selector, set_part("BARTSelector", "k", None, "parameters"), "thresholds that are missing"),
        (
            lambda: ConformalRanker(DummyRanker()).fit(X, Y),
            set_array("ConformalRanker", "calibration_scores_", put(0, 2.0)),
            "not in order",
        ),
        (lambda: Mallows().fit(Y), set_array("Mallows", "center_", put(0, 9.0)), "not a full ranking"),
        (lambda: Mallows().fit(Y), set_part("Mallows", "theta_", {"float": "nan"}), "theta"),
        (lambda: GeneralizedMallows().fit(Y), set_array("GeneralizedMallows", "theta_", longer), "theta"),
        (lambda: GeneralizedMallows().fit(Y), set_array("GeneralizedMallows", "theta_", put(0, -np.inf)), "negative"),
        (
            lambda: MallowsMixture(2, random_state=0).fit(Y),
            set_array("MallowsMixture", "centers_", put((0, 0), 77.0)),
            "not a full ranking",
        ),
        (lambda: PlackettLuce().fit(Y), set_array("PlackettLuce", "log_worth_", put(0, np.nan)), "not finite"),
        (
            lambda: GraphCutEmbedding(random_state=0).fit(Y),
            set_array("GraphCutEmbedding", "_keys", put((0, 0), -5.0)),
            "between 0 and 1",
        ),
        (
            lambda: GraphCutEmbedding(random_state=0).fit(Y),
            set_array("GraphCutEmbedding", "graph_", lambda a: a[:3, :3].copy()),
            "graph and items",
        ),
        (
            lambda: SymbolicFeatures().fit(X),
            set_array("ExpressionTable", "lefts", put(-1, 10**6)),
            "before its operands",
        ),
        (lambda: SymbolicFeatures().fit(X), set_array("ExpressionTable", "codes", put(-1, 99)), "operator"),
        (lambda: SymbolicFeatures().fit(X), set_array("ExpressionTable", "complexity", put(-1, 1)), "complexities"),
        (lambda: SymbolicFeatures().fit(X), set_array("SymbolicFeatures", "_rows", put(-1, 10**6)), "does not exist"),
        (
            lambda: ConcordanceSelector(2).fit(X, X[:, 0]),
            set_array("ConcordanceSelector", "_rows", put(0, -1)),
            "does not exist",
        ),
        (lambda: ScoreSelector(k=2).fit(X, X[:, 0]), set_array("ScoreSelector", "scores_", longer), "scores_"),
        (lambda: query_ranker(LinearRanker()), set_array("LinearRanker", "coef_", longer), "weights"),
        (
            lambda: query_ranker(LambdaMART(3, tree="level")),
            set_array("LevelTrees", "feature", put((0, 0), 20)),
            "feature that does not exist",
        ),
        (
            lambda: query_ranker(LambdaMART(3, tree="level")),
            set_array("LevelTrees", "value", lambda a: a[:, :-1].copy()),
            "leaves",
        ),
        (
            lambda: query_ranker(LambdaMART(3, tree="level", categorical_features=[0])),
            set_array("TargetStatistics", "columns", put(0, 20)),
            "feature that does not exist",
        ),
        (
            lambda: query_ranker(LambdaMART(3, tree="level", categorical_features=[0])),
            set_array("TargetStatistics", "means", longer),
            "do not belong to features",
        ),
        (lambda: query_ranker(LambdaMART(3)), set_part("LambdaMART", "n_estimators_", 4), "fewer trees"),
        (lambda: query_ranker(LambdaMART(3)), set_part("LambdaMART", "n_features_in_", 19), "features"),
    ],
)
def test_parts_that_do_not_belong_together(make, change, match, path):
    forged_is_refused(make(), change, match, path)


GRAPH = np.array([[0, 1, 0, 2, 1.0], [1, 0, 3, 0, 0], [0, 3, 0, 1, 1], [2, 0, 1, 0, 0], [1, 0, 1, 0, 0]])


@pytest.mark.parametrize(
    ("part", "change", "match"),
    [
        ("indptr", put(-1, 0), "do not end|not in order"),
        ("indptr", put(-1, -5), "not in order"),
        ("indptr", put(-1, 2**31 - 1), "do not end"),
        ("indptr", put(0, -1), "begin at 0"),
        ("indptr", put(slice(None), 0), "do not end"),
        ("indptr", lambda starts: starts[:-1].copy(), "begin at 0"),
        ("indices", put(0, -1), "outside"),
        ("indices", put(-1, 5), "outside"),
        ("data", longer, "do not end"),
    ],
)
def test_sparse_matrices(part, change, match, path):
    embedding = GraphCutEmbedding(graph=csr_array(GRAPH), random_state=0).fit(Y)
    forged_is_refused(embedding, set_array("csr_array", part, change), match, path)


@pytest.mark.parametrize(
    ("name", "parameter", "value", "match"),
    [
        ("Pipeline", "memory", "cache", "no file may set"),
        ("Pipeline", "verbose", "yes", "must be a Boolean"),
        ("Pipeline", "steps", [{"tuple": ["a", {"object": 1}]}, {"tuple": ["b", {"object": 1}]}], "does not transform"),
        ("Ridge", "solver", "mine", "must be one of"),
        ("Ridge", "alpha", {"dict": []}, "must be"),
        ("Ridge", "later_parameter", 1, "no file may set"),
    ],
)
def test_parameters_of_other_libraries(name, parameter, value, match, path):
    ranker = LabelwiseRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, Y)
    forged_is_refused(ranker, set_part(name, parameter, value, "parameters"), match, path)


def test_every_class_of_scikit_learn_has_a_list_of_parameters_and_no_more_than_it_takes():
    classes = {name for name, external in EXTERNALS.items() if external.parameters == "changed"}
    assert set(ALLOWED) == classes
    past = {"multi_class"}
    for name in classes:
        assert set(ALLOWED[name]) - past <= set(recipe_named(name).arguments), name


def test_a_pipeline_with_a_folder_of_pickles_is_not_saved(path, tmp_path):
    ranker = LabelwiseRanker(make_pipeline(StandardScaler(), Ridge(), memory=str(tmp_path)))
    with pytest.raises(TypeError, match="no file may set the parameter memory"):
        rankwise.save(ranker, path)


def test_encoders_that_would_be_fitted_again_to_huge_tables(path, monkeypatch):
    """One long list of categories, and many short ones, are a long and wide table."""
    encoder = OneHotEncoder(handle_unknown="ignore").fit(CATEGORIES)
    rankwise.save(encoder, path)
    monkeypatch.setattr(classes, "_MOST_CELLS", 100)
    with pytest.raises(RankwiseFormatError, match="too many categories"):
        rankwise.load(path)
    with pytest.raises(TypeError, match="so many categories"):
        rankwise.save(encoder, path)


def test_networks(path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    ranker = query_ranker(NeuralRanker(n_epochs=1, hidden=(4,)))
    forged_is_refused(
        ranker, set_part("NeuralRanker", "hidden", {"tuple": [10**12]}, "parameters"), "size mismatch", path
    )
    many = {"tuple": [4] * 10**5}
    forged_is_refused(ranker, set_part("NeuralRanker", "hidden", many, "parameters"), "fewer arrays than layers", path)
    several = set_part("NeuralRanker", "n_networks", 10**12, "parameters")
    forged_is_refused(ranker, several, "fewer arrays than layers", path)
    wanting = set_part("NeuralRanker", "quantile_transform", True, "parameters")
    forged_is_refused(ranker, wanting, "size mismatch", path)
    ranker = query_ranker(NeuralRanker(n_epochs=1, quantile_transform=True))
    falling = set_array("NeuralRanker", "_quantiles", lambda a: a[::-1])
    forged_is_refused(ranker, falling, "quantiles do not rise", path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda record: record["state"]["at"].update({"dict": [["bit_generator", "Evil"]]}), "unknown type"),
        (lambda record: record["state"].update({"at": {"dict": []}}), "KeyError"),
    ],
)
def test_random_generators(change, match, path):
    tree = RankingTree(random_state=np.random.default_rng(0))
    forged_is_refused(tree, lambda manifest, arrays: change(record_of(manifest, "Generator")), match, path)


def test_the_place_of_a_mersenne_twister_lies_inside(path):
    def forged(manifest, arrays):
        state = record_of(manifest, "RandomState")["state"]["at"]["dict"]
        inner = next(pair[1] for pair in state if pair[0] == "state")["dict"]
        next(pair for pair in inner if pair[0] == "pos")[1] = 10**9

    forged_is_refused(RankingTree(random_state=np.random.RandomState(0)), forged, "state of a random generator", path)


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ({"object": 10**6}, "refers to part"),
        ({"object": -1}, "refers to part"),
        ({"object": True}, "refers to part"),
        ({"array": "0"}, "refers to part"),
        ({"import": "os"}, "unknown"),
        ({"tuple": 3}, "where a list should be"),
        ({"tuple": [1], "list": [2]}, "too many values"),
        ({}, "not enough values"),
        ({"float": "1e999"}, "unknown"),
        ({"scalar": ["object", 3]}, "unknown"),
        ({"scalar": ["float64", {"object": 0}]}, "TypeError|no model"),
        ({"dict": [[[1], 2]]}, "unhashable"),
        ({"text": [[1000], ["a" * 10**5] + ["b"] * 999]}, "array of strings takes too many bytes"),
        ({"mixed": [[3], [1]]}, "reshape"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_values_that_are_none(value, match, path):
    change = set_part("RankingTree", "categorical_features", value, "parameters")
    forged_is_refused(RankingTree(max_depth=2).fit(X, Y), change, match, path)


@pytest.mark.parametrize(
    "name", ["os.system", "Popen", "Evil", "RandomForestRegressor", "Recipe", None, 3, ["RankingTree"]]
)
def test_only_known_classes_are_built(name, path):
    def forged(manifest, arrays):
        record_of(manifest, "DummyRanker")["class"] = name

    forged_is_refused(DummyRanker(), forged, "unknown", path)


def test_the_class_must_be_the_one_that_the_file_names(path):
    forged_is_refused(DummyRanker(), lambda m, arrays: m.update({"class": "RankingTree"}), "says that it holds", path)


def test_random_changes_to_manifests_do_no_harm(path):
    """Replace values at random, with right checksums: an error, or a model that predicts something."""
    rankwise.save(RankingForest(2, bootstrap=False, random_state=0).fit(X, Y), path)
    original = path.read_bytes()
    rng = np.random.default_rng(0)
    values = [
        0,
        -1,
        1,
        2,
        10**6,
        2**31,
        2**63,
        1.5,
        None,
        True,
        "x",
        [],
        {},
        {"array": 0},
        {"object": 0},
        {"tuple": []},
    ]
    refusals = 0
    for _ in range(120):
        path.write_bytes(original)

        def scramble(manifest, arrays):
            record = manifest["objects"][rng.integers(len(manifest["objects"]))]
            title = "state" if record["state"] and rng.random() < 0.7 else "parameters"
            if record[title]:
                name = list(record[title])[rng.integers(len(record[title]))]
                record[title][name] = values[rng.integers(len(values))]

        forge(path, scramble)
        try:
            loaded = rankwise.load(path)
            assert loaded.predict(X).shape == Y.shape
        except RankwiseFormatError:
            refusals += 1
    assert refusals > 60


def test_random_changes_to_arrays_do_no_harm(path):
    rankwise.save(RankingForest(2, bootstrap=False, random_state=0).fit(X, Y), path)
    original = path.read_bytes()
    rng = np.random.default_rng(1)
    refusals = 0
    for _ in range(120):
        path.write_bytes(original)

        def scramble(manifest, arrays):
            place = rng.integers(len(arrays))
            array = arrays[place].copy()
            if array.size:
                flat = array.reshape(-1).view(np.uint8 if array.dtype == bool else array.dtype)
                new = [0, 1] if array.dtype == bool else [0, 1, 2, 7, 40, 10**6, 2**31 - 1]
                flat[rng.integers(flat.size)] = new[rng.integers(len(new))]
            arrays[place] = array

        forge(path, scramble)
        try:
            assert rankwise.load(path).predict(X).shape == Y.shape
        except RankwiseFormatError:
            refusals += 1
    assert refusals > 20
