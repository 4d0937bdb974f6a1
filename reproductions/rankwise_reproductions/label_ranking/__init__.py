"""Fotakis, Kalavasis, Psaroudaki: Label Ranking through Nonparametric Regression (ICML 2022)."""
