"""Kemeny's consensus with ties: the bucket order that disagrees least."""
