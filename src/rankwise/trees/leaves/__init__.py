"""Finding the leaf of a row, and what leaves hold."""
