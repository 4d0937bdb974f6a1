"""Attacks on rankwise from outside, seeded; a few seconds of each are tests, and longer runs are started by hand.

``python -m tests.attack --minutes 10`` forges saved models; see `forging`.
"""
