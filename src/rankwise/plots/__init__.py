"""Pictures, as Display objects: ``from_rankings`` and the like, then ``plot(ax=None)``, ``ax_`` and ``figure_``."""

from rankwise.plots.consensus import ConsensusDisplay
from rankwise.plots.intervals import RankIntervalDisplay
from rankwise.plots.kernel_maps import EmbeddingDisplay, GramMatrixDisplay
from rankwise.plots.leaderboard import CriticalDifferenceDisplay
from rankwise.plots.matrices import PairwisePreferenceDisplay, PositionHeatmapDisplay
from rankwise.plots.noise_margins import NoiseCurveDisplay
from rankwise.plots.query_scores import QueryComparisonDisplay
from rankwise.plots.reliability import PairwiseCalibrationDisplay
from rankwise.plots.screened_features import ScreeningDisplay
from rankwise.plots.tree_diagram import RankingTreeDisplay
from rankwise.plots.tree_measures import FeatureImportanceDisplay, PruningPathDisplay

__all__ = [
    "ConsensusDisplay",
    "CriticalDifferenceDisplay",
    "EmbeddingDisplay",
    "FeatureImportanceDisplay",
    "GramMatrixDisplay",
    "NoiseCurveDisplay",
    "PairwiseCalibrationDisplay",
    "PairwisePreferenceDisplay",
    "PositionHeatmapDisplay",
    "PruningPathDisplay",
    "QueryComparisonDisplay",
    "RankIntervalDisplay",
    "RankingTreeDisplay",
    "ScreeningDisplay",
]
