"""Clémençon, Korba, Sibony: Ranking Median Regression, Learning to Order through Local Consensus (ALT 2018)."""
