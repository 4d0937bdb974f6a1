"""Conserva, Deisenroth, Sesh Kumar: The graph cut kernel for ranked data (TMLR 2022)."""
