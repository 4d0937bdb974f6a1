"""Cross-validation and comparison: of query rankers, with queries kept whole, and of label rankers."""

from rankwise.model_selection.comparison import Comparison, compare
from rankwise.model_selection.leaderboard import Leaderboard, leaderboard
from rankwise.model_selection.query_splits import QueryKFold, train_test_split_by_query
from rankwise.model_selection.validation import CrossValidation, cross_validate

__all__ = [
    "Comparison",
    "CrossValidation",
    "Leaderboard",
    "QueryKFold",
    "compare",
    "cross_validate",
    "leaderboard",
    "train_test_split_by_query",
]
