"""Cross-validation that keeps queries whole, and comparison of rankers query by query."""

from rankwise.model_selection.comparison import Comparison, compare
from rankwise.model_selection.splits import QueryKFold, train_test_split_by_query
from rankwise.model_selection.validation import CrossValidation, cross_validate

__all__ = [
    "Comparison",
    "CrossValidation",
    "QueryKFold",
    "compare",
    "cross_validate",
    "train_test_split_by_query",
]
