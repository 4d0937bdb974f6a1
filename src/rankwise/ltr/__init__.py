"""Learning to rank the documents of queries: from features and graded relevance, or comparisons, to scores."""

from rankwise.ltr.blend import StackedQueryRanker
from rankwise.ltr.candidates import refresh_candidates
from rankwise.ltr.effects import QueryImportances, ScoreExplanation, permutation_importance
from rankwise.ltr.gradients import lambda_gradients, pair_gradients
from rankwise.ltr.lambdamart import LambdaMART
from rankwise.ltr.linear import LinearRanker
from rankwise.ltr.loss_values import pair_weights, ranking_loss
from rankwise.ltr.neural import NeuralRanker

__all__ = [
    "LambdaMART",
    "LinearRanker",
    "NeuralRanker",
    "QueryImportances",
    "ScoreExplanation",
    "StackedQueryRanker",
    "lambda_gradients",
    "pair_gradients",
    "pair_weights",
    "permutation_importance",
    "ranking_loss",
    "refresh_candidates",
]
