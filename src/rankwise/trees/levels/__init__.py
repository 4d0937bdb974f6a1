"""Growing trees level by level, all cells of a level by the same cut (Level-Splits)."""

from rankwise.trees.levels.growth import grow_by_levels

__all__ = ["grow_by_levels"]
