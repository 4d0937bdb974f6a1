"""Cross-validation, evaluation and comparison: of query rankers, with queries kept whole, and of label rankers."""

from rankwise.model_selection.comparison import Comparison, compare
from rankwise.model_selection.evaluation import Evaluation, evaluate_rankers, evaluate_runs, evaluate_scores
from rankwise.model_selection.leaderboard import Leaderboard, leaderboard
from rankwise.model_selection.query_splits import QueryKFold, train_test_split_by_query
from rankwise.model_selection.validation import CrossValidation, cross_validate

__all__ = [
    "Comparison",
    "CrossValidation",
    "Evaluation",
    "Leaderboard",
    "QueryKFold",
    "compare",
    "cross_validate",
    "evaluate_rankers",
    "evaluate_runs",
    "evaluate_scores",
    "leaderboard",
    "train_test_split_by_query",
]
