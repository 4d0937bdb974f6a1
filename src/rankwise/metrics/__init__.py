"""Agreement of rankings, retrieval metrics, and scorers for scikit-learn."""

from rankwise.metrics.agreement import exact_match_score, kendall_tau_score, spearman_score
from rankwise.metrics.retrieval import (
    average_precision_score,
    dcg_score,
    err_score,
    hit_rate_score,
    ndcg_score,
    precision_score,
    recall_score,
    reciprocal_rank_score,
)
from rankwise.metrics.scorers import ranking_scorer

__all__ = [
    "average_precision_score",
    "dcg_score",
    "err_score",
    "exact_match_score",
    "hit_rate_score",
    "kendall_tau_score",
    "ndcg_score",
    "precision_score",
    "ranking_scorer",
    "recall_score",
    "reciprocal_rank_score",
    "spearman_score",
]
