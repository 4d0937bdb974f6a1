"""Pictures of rankings, as Display objects: `from_rankings(...)`, `.plot(ax=None)`, `.ax_`, `.figure_`."""

from rankwise.plots.pairwise import PairwisePreferenceDisplay
from rankwise.plots.places import PositionHeatmapDisplay

__all__ = ["PairwisePreferenceDisplay", "PositionHeatmapDisplay"]
