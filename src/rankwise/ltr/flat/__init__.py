"""Losses of linear rankers."""

from rankwise.ltr.flat.losses import LISTWISE, PAIRWISE, FlatLoss, make_flat_loss

__all__ = ["LISTWISE", "PAIRWISE", "FlatLoss", "make_flat_loss"]
