"""Luo, Li: Ranking perspective for tree-based methods, with applications to symbolic feature selection (2024)."""
