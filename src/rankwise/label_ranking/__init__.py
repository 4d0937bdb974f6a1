"""Rank items by features: from features and rankings of any kind to full rankings."""

from rankwise.label_ranking.boosted import BoostedRanker
from rankwise.label_ranking.clusters import ClusterRanker
from rankwise.label_ranking.conformal import ConformalRanker
from rankwise.label_ranking.counterfactuals import Counterfactual
from rankwise.label_ranking.diagnostics import (
    bayes_risk,
    conditional_excess_risk,
    conditional_noise_margin,
    conditional_risk,
    partition_dispersion,
    ranking_risk,
)
from rankwise.label_ranking.dummy import DummyRanker
from rankwise.label_ranking.dyads import DyadRanker
from rankwise.label_ranking.explanations import PairExplanation
from rankwise.label_ranking.forest import RankingForest
from rankwise.label_ranking.inspection import as_regressor
from rankwise.label_ranking.kernel_ranker import KernelRanker
from rankwise.label_ranking.labelwise import LabelwiseRanker
from rankwise.label_ranking.linear_plackett_luce import PlackettLuceRanker
from rankwise.label_ranking.neighbors import NearestNeighborsRanker
from rankwise.label_ranking.pairwise import PairwiseRanker
from rankwise.label_ranking.plackett_luce_tree import PlackettLuceTree
from rankwise.label_ranking.prototypes import Prototypes
from rankwise.label_ranking.risk_bounds import (
    empirical_risk_bound,
    low_noise_risk_bound,
    neighbors_risk_bound,
    partition_distance_bound,
    partition_risk_bound,
)
from rankwise.label_ranking.sample_sizes import (
    forest_error,
    forest_rows,
    pairwise_error,
    pairwise_rows,
    tree_error,
    tree_rows,
)
from rankwise.label_ranking.stacked import StackedRanker
from rankwise.label_ranking.tree import RankingTree

__all__ = [
    "BoostedRanker",
    "ClusterRanker",
    "ConformalRanker",
    "Counterfactual",
    "DummyRanker",
    "DyadRanker",
    "KernelRanker",
    "LabelwiseRanker",
    "NearestNeighborsRanker",
    "PairExplanation",
    "PairwiseRanker",
    "PlackettLuceRanker",
    "PlackettLuceTree",
    "Prototypes",
    "RankingForest",
    "RankingTree",
    "StackedRanker",
    "as_regressor",
    "bayes_risk",
    "conditional_excess_risk",
    "conditional_noise_margin",
    "conditional_risk",
    "empirical_risk_bound",
    "forest_error",
    "forest_rows",
    "low_noise_risk_bound",
    "neighbors_risk_bound",
    "pairwise_error",
    "pairwise_rows",
    "partition_dispersion",
    "partition_distance_bound",
    "partition_risk_bound",
    "ranking_risk",
    "tree_error",
    "tree_rows",
]
