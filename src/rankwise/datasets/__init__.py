"""Data sets: generators after the papers, rankings derived from other data, loaders."""

from rankwise.datasets.cells import make_cell_label_ranking
from rankwise.datasets.feature_laws import BinaryFeatures, FiniteFeatures
from rankwise.datasets.food import make_food_preferences
from rankwise.datasets.judged_queries import make_retrieval
from rankwise.datasets.lipschitz import lipschitz_oracle
from rankwise.datasets.loaders import load_label_ranking, load_retrieval
from rankwise.datasets.mechanisms import make_incomplete, make_partial
from rankwise.datasets.noise_conditions import (
    deletion_tolerance,
    partial_tolerance,
    transitive_share,
    tsybakov_noise,
)
from rankwise.datasets.noise_laws import GaussianNoise, MallowsNoise, UniformNoise
from rankwise.datasets.oracle import RankingOracle
from rankwise.datasets.smooth import make_smooth_label_ranking
from rankwise.datasets.sparse import make_sparse_label_ranking, noise_scale_for
from rankwise.datasets.split_conditions import (
    density_lower_bound,
    diminishing_returns_constant,
    strong_sparsity,
    submodularity_constant,
)
from rankwise.datasets.symbolic import make_symbolic_regression
from rankwise.datasets.transforms import rankings_from_classification, rankings_from_regression

__all__ = [
    "BinaryFeatures",
    "FiniteFeatures",
    "GaussianNoise",
    "MallowsNoise",
    "RankingOracle",
    "UniformNoise",
    "deletion_tolerance",
    "density_lower_bound",
    "diminishing_returns_constant",
    "lipschitz_oracle",
    "load_label_ranking",
    "load_retrieval",
    "make_cell_label_ranking",
    "make_food_preferences",
    "make_incomplete",
    "make_partial",
    "make_retrieval",
    "make_smooth_label_ranking",
    "make_sparse_label_ranking",
    "make_symbolic_regression",
    "noise_scale_for",
    "partial_tolerance",
    "rankings_from_classification",
    "rankings_from_regression",
    "strong_sparsity",
    "submodularity_constant",
    "transitive_share",
    "tsybakov_noise",
]
