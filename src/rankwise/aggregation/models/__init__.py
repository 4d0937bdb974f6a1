"""Laws of random rankings around a central one: Mallows models, their generalisation and their mixtures."""
