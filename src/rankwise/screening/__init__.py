"""Screening of symbolic features by the order that they give the target, and the ranking view of tree splits."""

from rankwise.screening.bart import BARTSelector, inclusion_thresholds
from rankwise.screening.bounds import TreeRankingBound, tree_ranking_bound
from rankwise.screening.concordance import (
    ConcordanceTest,
    concordance_test,
    concordant_divergence,
    gini_correlation,
    rank_classes,
    ranking_gain,
)
from rankwise.screening.features import SymbolicFeatures
from rankwise.screening.formulas import FormulaSummary, SymbolicFormula
from rankwise.screening.node_splits import (
    OraclePartition,
    SplitLosses,
    oracle_partition,
    principal_decision_ratio,
    split_losses,
    swap_gains,
)
from rankwise.screening.piecewise import monotone_intervals, preference_probability, preimages, refined_intervals
from rankwise.screening.regressor import SymbolicRegressor
from rankwise.screening.score_selector import ScoreSelector
from rankwise.screening.screens import ScreeningResult, screen_expressions
from rankwise.screening.selector import ConcordanceSelector
from rankwise.screening.stability import SelectionStability, selection_stability
from rankwise.screening.subsets import SubsetModel, best_subset

__all__ = [
    "BARTSelector",
    "ConcordanceSelector",
    "ConcordanceTest",
    "FormulaSummary",
    "OraclePartition",
    "ScoreSelector",
    "ScreeningResult",
    "SelectionStability",
    "SplitLosses",
    "SubsetModel",
    "SymbolicFeatures",
    "SymbolicFormula",
    "SymbolicRegressor",
    "TreeRankingBound",
    "best_subset",
    "concordance_test",
    "concordant_divergence",
    "gini_correlation",
    "inclusion_thresholds",
    "monotone_intervals",
    "oracle_partition",
    "preference_probability",
    "preimages",
    "principal_decision_ratio",
    "rank_classes",
    "ranking_gain",
    "refined_intervals",
    "screen_expressions",
    "selection_stability",
    "split_losses",
    "swap_gains",
    "tree_ranking_bound",
]
