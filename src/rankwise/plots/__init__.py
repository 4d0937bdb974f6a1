"""Pictures, as Display objects: ``from_rankings`` or ``from_estimator``, ``plot(ax=None)``, ``ax_``, ``figure_``."""

from rankwise.plots.importances import FeatureImportanceDisplay
from rankwise.plots.pairwise import PairwisePreferenceDisplay
from rankwise.plots.places import PositionHeatmapDisplay
from rankwise.plots.tree import RankingTreeDisplay

__all__ = [
    "FeatureImportanceDisplay",
    "PairwisePreferenceDisplay",
    "PositionHeatmapDisplay",
    "RankingTreeDisplay",
]
