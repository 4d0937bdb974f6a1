"""Stratos: Learning to Rank (lecture notes)."""
