"""Pictures, as Display objects: ``from_rankings`` and the like, then ``plot(ax=None)``, ``ax_`` and ``figure_``."""

from rankwise.plots.calibration import PairwiseCalibrationDisplay
from rankwise.plots.consensus import ConsensusDisplay
from rankwise.plots.importances import FeatureImportanceDisplay
from rankwise.plots.intervals import RankIntervalDisplay
from rankwise.plots.kernels import EmbeddingDisplay, GramMatrixDisplay
from rankwise.plots.leaderboard import CriticalDifferenceDisplay
from rankwise.plots.noise import NoiseCurveDisplay
from rankwise.plots.pairwise import PairwisePreferenceDisplay
from rankwise.plots.places import PositionHeatmapDisplay
from rankwise.plots.pruning import PruningPathDisplay
from rankwise.plots.queries import QueryComparisonDisplay
from rankwise.plots.screening import ScreeningDisplay
from rankwise.plots.tree import RankingTreeDisplay

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
