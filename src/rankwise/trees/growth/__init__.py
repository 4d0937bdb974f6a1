"""Growing trees: each node by its own best split (Breiman)."""

from rankwise.trees.growth.best import grow_best

__all__ = ["grow_best"]
