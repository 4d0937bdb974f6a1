"""The one table of ranking losses: their names, what they are, and which rankers offer them.

`LinearRanker` and `NeuralRanker` take a name as ``loss``, `LambdaMART` as ``objective``; the same name is the same loss
everywhere. Each ranker needs something else of a loss, so there are several implementations: ``_linear_losses`` (value
and gradient of pairwise losses, all rows at once, for `LinearRanker`), ``_listwise_losses`` (value and both
derivatives, for `LinearRanker` and boosting), ``_torch_losses`` (PyTorch, padded batches, for `NeuralRanker`),
``gradients`` (gradient and second derivative of weighted pairs, for boosting) and ``loss_values`` (values for any
scores, by the definitions, for `ranking_loss`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["pointwise", "query", "pairwise", "listwise"]


class Loss(NamedTuple):
    """A loss, in terms of scores s and relevance y."""

    name: str
    kind: Kind
    definition: str
    reference: str
    rankers: tuple[str, ...]


_LINEAR, _NEURAL, _BOOSTED = "LinearRanker", "NeuralRanker", "LambdaMART"

LOSSES = (
    Loss("pointwise_squared", "pointwise", "(s - y)^2", "", (_NEURAL, _BOOSTED)),
    Loss("pointwise_logistic", "pointwise", "log(1 + e^s) - z s with z = y / max y", "", (_NEURAL, _BOOSTED)),
    Loss(
        "query_rmse",
        "query",
        "(s + b - y)^2 with the b of the query that fits best: scores and grades are centered",
        "CatBoost's QueryRMSE",
        (_BOOSTED,),
    ),
    Loss(
        "query_softmax",
        "query",
        "-y log softmax(s): listwise_softmax, times the sum of y",
        "CatBoost's QuerySoftMax",
        (_BOOSTED,),
    ),
    Loss(
        "query_cross_entropy",
        "query",
        "log(1 + e^(s + b)) - z (s + b) with that b and z = y / max y",
        "CatBoost's QueryCrossEntropy",
        (_BOOSTED,),
    ),
    Loss(
        "pairwise_logistic",
        "pairwise",
        "log(1 + e^-(s_i - s_j)) for y_i > y_j",
        "RankNet: Burges et al. (2005); without features, Bradley-Terry",
        (_LINEAR, _NEURAL, _BOOSTED),
    ),
    Loss("pairwise_hinge", "pairwise", "max(0, 1 - (s_i - s_j))", "RankSVM: Joachims (2002)", (_LINEAR, _NEURAL)),
    Loss("pairwise_squared_hinge", "pairwise", "max(0, 1 - (s_i - s_j))^2", "Chapelle and Keerthi (2010)", (_LINEAR,)),
    Loss("pairwise_squared", "pairwise", "(1 - (s_i - s_j))^2", "RankRLS: Pahikkala et al. (2009)", (_LINEAR,)),
    Loss(
        "lambdarank",
        "pairwise",
        "pairwise_logistic, each pair weighted by how much exchanging it changes the metric",
        "Burges (2010)",
        (_LINEAR, _NEURAL, _BOOSTED),
    ),
    Loss(
        "lambdaloss",
        "pairwise",
        "lambdarank's weight in NDCG, plus 10 times a bound on the pair's cost in NDCG",
        "NDCG-Loss2++: Wang et al. (2018)",
        (_BOOSTED,),
    ),
    Loss(
        "yetirank",
        "pairwise",
        "pairwise_logistic of neighbors in noisy rankings, weighted by y_i - y_j and decay^place",
        "Gulin, Kuralenok and Pavlov (2011)",
        (_BOOSTED,),
    ),
    Loss("listwise_softmax", "listwise", "cross entropy of softmax(s) and p ~ y", "", (_LINEAR, _NEURAL, _BOOSTED)),
    Loss(
        "listwise_listnet",
        "listwise",
        "cross entropy of softmax(s) and p ~ e^y",
        "ListNet: Cao et al. (2007)",
        (_LINEAR, _NEURAL, _BOOSTED),
    ),
    Loss(
        "listwise_listmle",
        "listwise",
        "-log Plackett-Luce likelihood of the order by y",
        "ListMLE: Xia et al. (2008)",
        (_LINEAR, _NEURAL, _BOOSTED),
    ),
    Loss(
        "listwise_plistmle",
        "listwise",
        "the same with factor 2^(K-k) - 1 for place k of K, or another one (place_weights)",
        "position-aware ListMLE: Lan et al. (2014)",
        (_LINEAR, _NEURAL, _BOOSTED),
    ),
    Loss(
        "listwise_approx_ndcg",
        "listwise",
        "1 - NDCG with smooth places",
        "Qin, Liu and Li (2010)",
        (_NEURAL, _BOOSTED),
    ),
)


def losses_of(ranker: str, kind: Kind | None = None) -> tuple[str, ...]:
    """Names of the losses that a ranker offers, of one kind or of all.

    Examples
    --------
    >>> from rankwise.ltr.losses import losses_of
    >>> losses_of("LambdaMART", "pointwise")
    ('pointwise_squared', 'pointwise_logistic')
    """
    return tuple(loss.name for loss in LOSSES if ranker in loss.rankers and kind in (None, loss.kind))
