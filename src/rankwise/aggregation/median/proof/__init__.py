"""Proof that an order is optimal: linear programmes, inequalities for them, and integer programmes."""
