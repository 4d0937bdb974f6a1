"""The classes that a file may hold, and of what they are made: the list of all that `load` will ever build.

A recipe belongs to the format: what a class learns in ``fit`` and is not listed here cannot be saved, and whoever adds,
renames or drops a learned attribute decides here how files of earlier versions are read.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Literal

from rankwise.persistence import boosters, checks, parts
from rankwise.persistence.kinds import (
    ANYTHING,
    ESTIMATOR,
    FLOATS,
    ITEMS,
    MATRIX,
    NAMES,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Kind,
    array,
    dict_of,
    either,
    instance,
    list_of,
    maybe,
    tuple_of,
)

State = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """What a class is made of.

    Attributes
    ----------
    name, module : str
        The class, and where it is imported from.
    state : mapping
        Its parts beside parameters: attributes, unless ``pull`` and ``build`` say otherwise. All or, if it is not
        fitted, none.
    optional : mapping
        Parts that may be absent.
    parameters : {"all", "changed", "none"}
        Which parameters a file holds: for scikit-learn's classes those that differ from the defaults, because other
        versions of it may not know the rest.
    check : callable
        What must hold between the parts of an object.
    pull, build : callable
        Object -> state; class, parameters, state -> object.
    """

    name: str
    module: str
    state: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)
    parameters: Literal["all", "changed", "none"] = "all"
    check: Callable[[Any], None] | None = None
    pull: Callable[[Any], State] | None = None
    build: Callable[[Any, State, State], Any] | None = None

    @property
    def kind(self) -> Any:
        """The class."""
        return getattr(importlib.import_module(self.module), self.name)

    def taken_apart(self, thing: Any, where: str) -> tuple[State, State]:
        """Parameters and state of an object; what could not be loaded again is refused."""
        pull = parts.learned if self.pull is None else self.pull
        state = pull(thing)
        try:
            self._check_state(state)
            self._check(thing)
        except ValueError as error:
            raise TypeError(f"{where} cannot be saved: {error}") from error
        return self._parameters_of(thing), state

    def put_together(self, parameters: State, state: State) -> Any:
        """An object from its parts, if these are what they must be."""
        self._check_state(state)
        build = _from_attributes if self.build is None else self.build
        thing = build(self.kind, parameters, state)
        self._check(thing)
        return thing

    def _check(self, thing: Any) -> None:
        if hasattr(thing, "_parameter_constraints"):
            thing._validate_params()
        if self.check is not None:
            self.check(thing)

    def _check_state(self, state: State) -> None:
        known = {**_ALWAYS_ALLOWED, **self.optional, **self.state}
        for name, part in state.items():
            if name not in known:
                raise ValueError(f"{name[:40]} is no part of a {self.name}")
            if not known[name].holds(part):
                raise ValueError(f"{name} of a {self.name} is not {known[name].says}")
        lacking = [name for name in self.state if name not in state]
        if lacking and (self.parameters == "none" or set(state) & set(self.state)):
            raise ValueError(f"{lacking[0]} of a {self.name} is lacking")

    def _parameters_of(self, thing: Any) -> State:
        if self.parameters == "none":
            return {}
        values: State = thing.get_params(deep=False)
        if self.parameters == "all":
            return values
        defaults = {name: p.default for name, p in inspect.signature(self.kind.__init__).parameters.items()}
        return {name: value for name, value in values.items() if not _is(value, defaults[name])}


def recipe_of(thing: Any) -> Recipe | None:
    """The recipe of the class of a thing, not of classes that it derives from."""
    recipe = RECIPES.get(type(thing).__name__)
    if recipe is None or not _may_be_from(type(thing), recipe.module) or recipe.kind is not type(thing):
        return None
    return recipe


def _from_attributes(kind: Any, parameters: State, state: State) -> Any:
    if is_dataclass(kind):
        return parts.from_arguments(kind, parameters, state)
    thing = kind(**parameters) if hasattr(kind, "get_params") else kind.__new__(kind)
    vars(thing).update(state)
    return thing


def _is(value: Any, default: Any) -> bool:
    """Whether a parameter has its default value."""
    plain = isinstance(default, bool | int | float | str)
    return value is default or (plain and type(value) is type(default) and value == default)


def _may_be_from(kind: type, module: str) -> bool:
    """Whether the class is of the same library, so that no other one is imported in vain."""
    return kind.__module__.split(".")[0] == module.split(".")[0]


#: what scikit-learn's fit or set_output may add to any estimator
_ALWAYS_ALLOWED = {"feature_names_in_": NAMES, "_sklearn_output_config": dict_of(TEXT)}
_FITTED = {"n_features_in_": WHOLE}
_RANKER = {**_FITTED, "items_": ITEMS}
_ENCODER = {"_encoder": instance("FeatureEncoder")}
_SCALER = {"_scaler": maybe(instance("StandardScaler"))}
_INT32, _INT64 = array("int32", 1), array("int64", 1)
_PENALTIES = {"cv_results_": maybe(dict_of(either(FLOATS, _INT64)))}


def _recipes() -> list[Recipe]:
    return [*_tree_recipes(), *_label_ranking_recipes(), *_ltr_recipes(), *_model_recipes(), *_other_recipes()]


def _tree_recipes() -> list[Recipe]:
    nodes = dict.fromkeys(["threshold", "gain", "error", "weight"], FLOATS)
    nodes |= dict.fromkeys(["feature", "left", "set_of"], _INT32)
    nodes |= {"missing_left": array("bool", 1), "count": _INT64, "sets": array("uint64", 2)}
    nodes |= {"contents": instance("LeafMeans", "LeafRows")}
    targets = {"values": MATRIX, "is_pairs": TRUTH}
    rows = {"targets": instance("TargetRows"), "start": _INT32, "rows": _INT32, "weights": FLOATS}
    means = {"values": array("float32 float64", 2)}
    one = {**_FITTED, **_ENCODER, "tree_": instance("Tree"), "_flat": TRUTH, "ccp_alpha_": NUMBER}
    many = {**_FITTED, **_ENCODER, "trees_": list_of(instance("Tree")), "_flat": TRUTH, "n_outputs_": WHOLE}
    scores = {"oob_score_": NUMBER, "oob_prediction_": either(FLOATS, MATRIX)}
    encoder = {"categorical_features": ANYTHING, "categories_": list_of(maybe(list_of(ANYTHING)))}
    none: Any = {"parameters": "none"}
    return [
        Recipe("Tree", "rankwise.trees.structure", nodes, check=checks.tree, **none),
        Recipe("LeafMeans", "rankwise.trees.structure", means, **none),
        Recipe("LeafRows", "rankwise.trees.structure", rows, check=checks.leaf_rows, **none),
        Recipe("TargetRows", "rankwise.trees.targets", targets, check=checks.target_rows, **none),
        Recipe("FeatureEncoder", "rankwise._features", encoder, check=checks.encoder, **none),
        Recipe("LeastSquaresTree", "rankwise.trees", one, _PENALTIES, check=checks.regression_tree),
        Recipe("LeastSquaresForest", "rankwise.trees", many, scores, check=checks.regression_forest),
    ]


def _label_ranking_recipes() -> list[Recipe]:
    module = "rankwise.label_ranking"
    tree = {**_RANKER, **_ENCODER, "tree_": instance("Tree"), "leaf_positions_": MATRIX, "ccp_alpha_": NUMBER}
    forest = {**_RANKER, **_ENCODER, "trees_": list_of(instance("Tree")), "_tree_weights": maybe(MATRIX)}
    neighbors = {**_RANKER, **_SCALER, "_rankings": instance("Rankings"), "_index": instance("NearestNeighbors")}
    neighbors |= {"_marginal": FLOATS, "n_neighbors_": WHOLE}
    labelwise = {**_RANKER, "regressors_": list_of(ESTIMATOR), "_mean_place": FLOATS, "spread_": MATRIX}
    pairwise = {**_RANKER, **_SCALER, "classifiers_": list_of(either(NUMBER, ESTIMATOR)), "_tie_order": maybe(FLOATS)}
    kernel = {**_RANKER, **_SCALER, "_unit": NUMBER, "_centers": MATRIX, "_mean": FLOATS, "_coefficients": MATRIX}
    kernel |= {"alpha_": NUMBER, "gamma_": NUMBER, "loo_errors_": MATRIX}
    kernel |= {"embedding_": instance("KemenyEmbedding", "PositionEmbedding", "GraphCutEmbedding")}
    linear = {**_RANKER, **_SCALER, "coef_": MATRIX, "intercept_": FLOATS, "n_iter_": WHOLE}
    cluster = {**_RANKER, **_SCALER, "clusters_": instance("KMeans"), "models_": list_of(instance("PlackettLuce"))}
    cluster |= {"_pairwise": array("float64", 3)}
    dummy = {**_RANKER, "pairwise_": MATRIX, "positions_": FLOATS}
    stacked = {**_RANKER, **_ENCODER, "_views": instance("_Views"), "weights_": dict_of(NUMBER)}
    stacked |= {"rankers_": dict_of(ESTIMATOR), "leaderboard_": tuple_of(instance("Standing"))}
    conformal = {**_RANKER, "ranker_": ESTIMATOR, "calibration_scores_": FLOATS, "calibration_weights_": FLOATS}
    steps = list_of(Kind("columns and a step", lambda value: len(value) == 2))
    views = {"categorical": _INT64, "steps": steps}
    numeric = {**_FITTED, **_ENCODER, "_steps": steps}
    found_by_forest = {"oob_score_": NUMBER, "embedding_": TEXT}
    standing = {"name": TEXT, "score": NUMBER, "weight": NUMBER}
    additive = {"mean_": FLOATS, "scale_": FLOATS, "knots_": MATRIX}
    scores = {"scores_": Kind("a dictionary of scores", lambda value: type(value) is dict)}
    return [
        Recipe("RankingTree", module, tree, _PENALTIES, check=checks.ranking_tree),
        Recipe("RankingForest", module, forest, found_by_forest, check=checks.ranking_forest),
        Recipe("NearestNeighborsRanker", module, neighbors, scores, check=checks.nearest_neighbors_ranker),
        Recipe("LabelwiseRanker", module, labelwise, check=checks.labelwise_ranker),
        Recipe("PairwiseRanker", module, pairwise, check=checks.pairwise_ranker),
        Recipe("KernelRanker", module, kernel, {"spread_": MATRIX}, check=checks.kernel_ranker),
        Recipe("PlackettLuceRanker", module, linear, check=checks.plackett_luce_ranker),
        Recipe("ClusterRanker", module, cluster, check=checks.cluster_ranker),
        Recipe("DummyRanker", module, dummy, check=checks.dummy_ranker),
        Recipe("StackedRanker", module, stacked, check=checks.stacked_ranker),
        Recipe("ConformalRanker", module, conformal, check=checks.conformal_ranker),
        Recipe("_Views", f"{module}.stacked", views, parameters="none"),
        _by_arguments("Standing", f"{module}.stacked", standing, parts.named_tuple_state),
        Recipe("NumericFeatures", f"{module}._numeric", numeric, check=checks.numeric_features),
        Recipe("AdditiveFeatures", f"{module}.stacked", additive, _FITTED, check=checks.scaler),
    ]


def _ltr_recipes() -> list[Recipe]:
    fitted = {**_FITTED, "n_queries_": WHOLE}
    history = {"history_": dict_of(list_of(NUMBER))}
    trees = {**fitted, **_ENCODER, **history, "booster_": instance("Booster", "LevelTrees"), "n_estimators_": WHOLE}
    linear = {**fitted, "coef_": FLOATS, "n_iter_": WHOLE}
    neural = {**fitted, **history, "_centre": FLOATS, "_spread": FLOATS, "_longest": WHOLE}
    neural |= {"network_": dict_of(either(*(array("float32", axes) for axes in (1, 2))))}
    levels = dict.fromkeys(["threshold", "gain", "value", "count"], MATRIX)
    levels |= {"feature": array("int64", 2), "missing_left": array("bool", 2)}
    custom: Any = {"pull": parts.neural_state, "build": parts.neural_from_state}
    booster: Any = {"pull": boosters.booster_state, "build": boosters.booster_from_state, "parameters": "none"}
    return [
        Recipe("LambdaMART", "rankwise.ltr", trees, check=checks.lambdamart),
        Recipe("LinearRanker", "rankwise.ltr", linear, check=checks.linear_ranker),
        Recipe("NeuralRanker", "rankwise.ltr", neural, check=checks.neural_ranker, **custom),
        Recipe("LevelTrees", "rankwise.ltr.level_trees", levels, check=checks.level_trees, parameters="none"),
        Recipe("Booster", "lightgbm", {"text": array("uint8", 1)}, **booster),
    ]


def _model_recipes() -> list[Recipe]:
    """Models of random rankings, embeddings and what screening selects."""
    mallows = {"items_": ITEMS, "center_": FLOATS, "theta_": NUMBER, "theta_se_": NUMBER}
    mallows |= {"log_normalizer_se_": NUMBER, "log_likelihood_": NUMBER}
    stages = {"items_": ITEMS, "center_": FLOATS, "theta_": FLOATS, "theta_se_": FLOATS, "log_likelihood_": NUMBER}
    mixture = {"items_": ITEMS, "weights_": FLOATS, "centers_": MATRIX, "thetas_": FLOATS, "labels_": _INT64}
    mixture |= {"log_likelihood_": NUMBER, "n_iter_": WHOLE, "converged_": TRUTH, "_n": NUMBER}
    choice = {"items_": ITEMS, "components_": tuple_of(tuple_of(ANYTHING)), "log_worth_": FLOATS, "se_": FLOATS}
    choice |= {"covariance_": maybe(MATRIX), "log_likelihood_": NUMBER, "n_iter_": WHOLE}
    luce = {**choice, "tie_strength_": FLOATS}
    terry = choice | dict.fromkeys(["home_effect_", "home_effect_se_", "tie_strength_", "tie_strength_se_"], NUMBER)
    graph_cut = {**_FITTED, "graph_": either(MATRIX, instance("csr_array")), "merge_free_": TRUTH, "_keys": MATRIX}
    graph_cut |= {"enumerated_up_to_": WHOLE}
    custom: Any = {"pull": parts.graph_cut_state, "build": parts.graph_cut_from_state}
    table = dict.fromkeys(["codes", "lefts", "rights", "complexity"], _INT64) | {"inputs": tuple_of(TEXT)}
    symbolic = {**_FITTED, "table_": instance("ExpressionTable"), "_rows": _INT64, "complexity_": _INT64}
    any_array = Kind("an array", lambda value: hasattr(value, "dtype"))
    selector = {**_FITTED, "table_": dict_of(any_array), "models_": list_of(instance("SubsetModel"))}
    selector |= {"n_candidates_": WHOLE, "n_usable_": WHOLE, "complete_": TRUTH}
    selector |= {"_expressions": instance("ExpressionTable"), "_rows": _INT64}
    subset = {"columns": _INT64, "coef": FLOATS, "intercept": NUMBER, "rmse": NUMBER}
    scored = {**_FITTED, "scores_": FLOATS}
    models, screening = "rankwise.aggregation", "rankwise.screening"
    return [
        Recipe("Mallows", models, mallows, check=checks.mallows),
        Recipe("GeneralizedMallows", models, stages, check=checks.generalized_mallows),
        Recipe("MallowsMixture", models, mixture, check=checks.mallows_mixture),
        Recipe("PlackettLuce", models, luce, check=checks.choice_model),
        Recipe("BradleyTerry", models, terry, check=checks.choice_model),
        Recipe("PositionEmbedding", "rankwise.embeddings", _FITTED),
        Recipe("KemenyEmbedding", "rankwise.embeddings", _FITTED),
        Recipe("GraphCutEmbedding", "rankwise.embeddings", graph_cut, check=checks.graph_cut, **custom),
        Recipe("ExpressionTable", f"{screening}.expressions", table, check=checks.expressions, parameters="none"),
        Recipe("SymbolicFeatures", screening, symbolic, check=checks.symbolic_features),
        Recipe("ConcordanceSelector", screening, selector, check=checks.concordance_selector),
        Recipe("SubsetModel", f"{screening}.subsets", subset, parameters="none"),
        Recipe("ScoreSelector", screening, scored, check=checks.score_selector),
        Recipe("BARTSelector", screening, scored, {"thresholds_": FLOATS}, check=checks.score_selector),
    ]


def _other_recipes() -> list[Recipe]:
    """Rankings, random generators, and what scikit-learn and SciPy bring."""
    rankings = {"positions": MATRIX, "items": ITEMS, "weights": FLOATS}
    indices = array("int32 int64", 1)
    sparse = {"data": FLOATS, "indices": indices, "indptr": indices, "shape": tuple_of(WHOLE)}
    at = {"at": Kind("a dictionary", lambda value: type(value) is dict)}
    generator: Any = {"pull": parts.generator_state, "build": parts.generator_from_state, "parameters": "none"}
    legacy: Any = {"pull": parts.random_state_state, "build": parts.random_state_from_state, "parameters": "none"}
    matrix: Any = {"pull": parts.sparse_state, "build": parts.sparse_from_state, "parameters": "none"}
    return [
        _by_arguments("Rankings", "rankwise.data", rankings, parts.rankings_state),
        Recipe("Generator", "numpy.random", at, **generator),
        Recipe("RandomState", "numpy.random", at, **legacy),
        Recipe("csr_array", "scipy.sparse", sparse, **matrix),
        Recipe("csr_matrix", "scipy.sparse", sparse, **matrix),
        *_sklearn_recipes(),
    ]


def _sklearn_recipes() -> list[Recipe]:
    changed: Any = {"parameters": "changed"}
    numbers = either(NUMBER, FLOATS)
    coefficients = either(FLOATS, MATRIX)
    logistic = {**_FITTED, "coef_": MATRIX, "intercept_": FLOATS, "classes_": ANYTHING, "n_iter_": _INT32}
    linear = {**_FITTED, "coef_": coefficients, "intercept_": numbers}
    spectrum = {"rank_": WHOLE, "singular_": FLOATS}
    ridge_extras = {"n_iter_": maybe(_INT32), "solver_": TEXT}
    scaled = {**_FITTED, "n_samples_seen_": either(NUMBER, _INT64, FLOATS), "scale_": maybe(FLOATS)}
    standard = {**scaled, "mean_": maybe(FLOATS), "var_": maybe(FLOATS)}
    ranges = {**scaled, **dict.fromkeys(["min_", "data_min_", "data_max_", "data_range_"], FLOATS)}
    quantiles = {**_FITTED, "n_quantiles_": WHOLE, "quantiles_": MATRIX, "references_": FLOATS}
    column = either(*(array(kind, 1) for kind in ("float64 float32 int64 bool", "object")))
    one_hot = {"categories_": list_of(column)}
    imputer = {"statistics_": column}
    clusters = {**_FITTED, "cluster_centers_": MATRIX, "labels_": _INT32, "inertia_": NUMBER, "n_iter_": WHOLE}
    clusters |= {"_n_features_out": WHOLE}
    neighbors: Any = {"pull": parts.neighbors_state, "build": parts.neighbors_from_state, **changed}
    encode: Any = {"pull": parts.one_hot_state, "build": parts.one_hot_from_state, **changed}
    impute: Any = {"pull": parts.imputer_state, "build": parts.imputer_from_state, **changed}
    kmeans: Any = {"pull": parts.clusters_state, "build": parts.clusters_from_state, **changed}
    models, preprocessing = "sklearn.linear_model", "sklearn.preprocessing"
    return [
        Recipe("LogisticRegression", models, logistic, check=checks.linear_model, **changed),
        Recipe("LinearRegression", models, linear, spectrum, check=checks.linear_model, **changed),
        Recipe("Ridge", models, linear, ridge_extras, check=checks.linear_model, **changed),
        Recipe("StandardScaler", preprocessing, standard, check=checks.scaler, **changed),
        Recipe("MinMaxScaler", preprocessing, ranges, check=checks.scaler, **changed),
        Recipe("QuantileTransformer", preprocessing, quantiles, **changed),
        Recipe("OneHotEncoder", preprocessing, one_hot, **encode),
        Recipe("SimpleImputer", "sklearn.impute", imputer, **impute),
        Recipe("Pipeline", "sklearn.pipeline", **changed),
        Recipe("NearestNeighbors", "sklearn.neighbors", {"rows": MATRIX}, **neighbors),
        Recipe("KMeans", "sklearn.cluster", clusters, check=checks.kmeans, **kmeans),
    ]


def _by_arguments(name: str, module: str, state: dict[str, Kind], pull: Callable[[Any], State]) -> Recipe:
    return Recipe(name, module, state, parameters="none", pull=pull, build=parts.from_arguments)


RECIPES = {recipe.name: recipe for recipe in _recipes()}
