"""The classes that a file may hold, which are all that `load` ever builds, and how they become parameters and state.

A class of rankwise says itself what of it is saved, see `rankwise._state`; here it is only listed, with its module. How
classes of other libraries are saved is in `externals`. `object_graph` uses `recipe_named` and `recipe_of`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, get_type_hints

from rankwise._state import BOOL, NAMES, NUMBER, STRING, Kind, State, dict_of, learned_state
from rankwise.persistence.externals import EXTERNALS

_OURS = {
    "rankwise._features": ["FeatureEncoder"],
    "rankwise.aggregation": ["BradleyTerry", "GeneralizedMallows", "Mallows", "MallowsMixture", "PlackettLuce"],
    "rankwise.data": ["Rankings"],
    "rankwise.embeddings": ["GraphCutEmbedding", "KemenyEmbedding", "PositionEmbedding"],
    "rankwise.label_ranking": [
        "ClusterRanker",
        "ConformalRanker",
        "DummyRanker",
        "KernelRanker",
        "LabelwiseRanker",
        "NearestNeighborsRanker",
        "PairwiseRanker",
        "PlackettLuceRanker",
        "RankingForest",
        "RankingTree",
        "StackedRanker",
    ],
    "rankwise.label_ranking.numeric": ["NumericFeatures"],
    "rankwise.label_ranking.stacked": ["AdditiveFeatures", "Standing", "_Views"],
    "rankwise.ltr": ["LambdaMART", "LinearRanker", "NeuralRanker"],
    "rankwise.ltr.boosting": ["LightGBMTrees"],
    "rankwise.ltr.level_trees": ["LevelTrees"],
    "rankwise.screening": ["BARTSelector", "ConcordanceSelector", "ScoreSelector", "SymbolicFeatures"],
    "rankwise.screening.expressions": ["ExpressionTable"],
    "rankwise.screening.subsets": ["SubsetModel"],
    "rankwise.trees": ["LeastSquaresForest", "LeastSquaresTree"],
    "rankwise.trees.structure": ["LeafMeans", "LeafRows", "TargetRows", "Tree"],
}
#: name of each class that a file may hold -> module that it is imported from
MODULES = {name: module for module, names in _OURS.items() for name in names}
MODULES |= {name: external.module for name, external in EXTERNALS.items()}

# What scikit-learn's fit or set_output may add to any estimator.
_ALWAYS_ALLOWED = {"feature_names_in_": NAMES, "_sklearn_output_config": dict_of(STRING)}

# Kinds of the fields of a NamedTuple, which cannot have a list of its own.
_ANNOTATED = {bool: BOOL, float: NUMBER, int: NUMBER, str: STRING}


@dataclass(frozen=True)
class Recipe:
    """How objects of a class become parameters and state, and are built from them.

    Attributes
    ----------
    cls : type
        The class.
    saved : mapping
        Names and kinds of the parts of its state.
    parameters : {"all", "changed", "none"}
        Which constructor parameters a file holds. For scikit-learn's classes those that differ from the defaults,
        because other versions of it may not know the rest; none for classes that are not estimators.
    check : callable, optional
        Raises a ValueError where the parts of an object do not belong together.
    pull, build : callable, optional
        Object -> state; class, parameters, state -> object.
    """

    cls: Any
    saved: Mapping[str, Kind]
    parameters: Literal["all", "changed", "none"]
    check: Callable[[Any], None] | None = None
    pull: Callable[[Any], State] | None = None
    build: Callable[[Any, State, State], Any] | None = None

    @cached_property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """Arguments of the constructor."""
        return inspect.signature(self.cls).parameters

    def to_state(self, thing: Any, where: str) -> tuple[State, State]:
        """Parameters and state of an object; what could not be loaded again is refused."""
        state = self._pulled(thing)
        try:
            self._check(thing, is_fitted=self._check_state(state))
        except ValueError as error:
            raise TypeError(f"{where} cannot be saved: {error}") from error
        return self._parameters_of(thing), state

    def from_state(self, parameters: State, state: State) -> Any:
        """An object from its parts, if these are what they must be."""
        is_fitted = self._check_state(state)
        if parameters and self.parameters == "none":
            raise ValueError(f"a {self.cls.__name__} has no parameters")
        thing = (self.build or self._built)(self.cls, parameters, state)
        self._check(thing, is_fitted)
        return thing

    def _pulled(self, thing: Any) -> State:
        if self.pull is not None:
            return self.pull(thing)
        if self.parameters == "none":
            return {name: getattr(thing, name) for name in self.saved}
        return learned_state(thing)

    def _built(self, cls: Any, parameters: State, state: State) -> Any:
        """Parts that are arguments of the constructor go there, the rest become attributes."""
        arguments = {name: part for name, part in state.items() if name in self.arguments}
        thing = cls(**parameters, **arguments)
        if len(arguments) < len(state):
            vars(thing).update({name: part for name, part in state.items() if name not in arguments})
        return thing

    def _check_state(self, state: State) -> bool:
        """Refuse parts of other kinds; return whether the object is fitted."""
        for name, part in state.items():
            kind = self.saved.get(name) or _ALWAYS_ALLOWED.get(name)
            if kind is None:
                raise ValueError(f"{name[:40]} is not a part of a {self.cls.__name__}")
            if not kind.matches(part):
                raise ValueError(f"{name} of a {self.cls.__name__} is not {kind.description}")
        required = [name for name, kind in self.saved.items() if kind.required]
        missing = [name for name in required if name not in state]
        if missing and (self.parameters == "none" or len(missing) < len(required)):
            raise ValueError(f"{missing[0]} of a {self.cls.__name__} is missing")
        return not missing

    def _check(self, thing: Any, is_fitted: bool) -> None:
        if hasattr(thing, "_parameter_constraints"):
            thing._validate_params()
        if self.check is not None and is_fitted:
            self.check(thing)

    def _parameters_of(self, thing: Any) -> State:
        if self.parameters == "none":
            return {}
        values: State = thing.get_params(deep=False)
        if self.parameters == "all":
            return values
        return {name: value for name, value in values.items() if not _is_default(value, self.arguments[name].default)}


@cache
def recipe_named(name: str) -> Recipe:
    """The recipe of one of the classes of `MODULES`."""
    cls = getattr(importlib.import_module(MODULES[name]), name)
    if name in EXTERNALS:
        external = EXTERNALS[name]
        return Recipe(cls, external.saved, external.parameters, external.check, external.pull, external.build)
    saved: dict[str, Kind] = {}
    if issubclass(cls, tuple):
        saved = {part: _ANNOTATED[annotation] for part, annotation in get_type_hints(cls).items()}
    for base in reversed(cls.__mro__):
        saved |= vars(base).get("_saved", {})
    parameters: Literal["all", "none"] = "all" if hasattr(cls, "get_params") else "none"
    check, pull, build = (getattr(cls, name, None) for name in ("_check_saved", "_to_state", "_from_state"))
    return Recipe(cls, saved, parameters, check, pull, build and build.__func__)


def recipe_of(thing: Any) -> Recipe | None:
    """The recipe of the class of a thing, not of classes that it derives from."""
    cls = type(thing)
    module = MODULES.get(cls.__name__, "")
    if cls.__module__.split(".")[0] != module.split(".")[0]:  # do not import another library needlessly
        return None
    recipe = recipe_named(cls.__name__)
    return recipe if recipe.cls is cls else None


def _is_default(value: Any, default: Any) -> bool:
    """Whether a parameter has its default value."""
    plain = isinstance(default, bool | int | float | str)
    return value is default or (plain and type(value) is type(default) and value == default)
