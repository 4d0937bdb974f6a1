"""Agreement of rankings, retrieval metrics, and scorers for scikit-learn."""

from rankwise.metrics.agreement import exact_match_score, kendall_tau_score, spearman_score

__all__ = ["exact_match_score", "kendall_tau_score", "spearman_score"]
