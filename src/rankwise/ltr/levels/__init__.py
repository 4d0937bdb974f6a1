"""Boosted trees that ask one question per level, grown on histograms of gradients and second derivatives."""

from rankwise.ltr.levels.boosting import LevelSettings, boost_levels
from rankwise.ltr.levels.trees import LevelTrees

__all__ = ["LevelSettings", "LevelTrees", "boost_levels"]
