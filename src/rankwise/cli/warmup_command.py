"""``rankwise warmup``: compile now what later calls would wait for.

The steps are small public calls that together run every compiled function. To warm up a new one, call the public
function that runs it in the step of its package. A test compiles everything from scratch and names the functions
that no step reaches. Imports are inside the steps, because the help of the command must not wait for them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rankwise.cli.in_and_out import say
from rankwise.cli.options import Json

if TYPE_CHECKING:
    from rankwise.data import Rankings


_PACKAGE = Path(__file__).parents[1]


def warmup(as_json: Json = False) -> None:
    """Compile everything that is compiled on first use, so that later calls start fast."""
    from rankwise.cli import console

    with console.progress() as on_step:
        for number, (name, call) in enumerate(STEPS.items()):
            on_step(name, number / len(STEPS))
            call()
    problem = cache_problem()
    if problem:
        say(problem)
    if as_json:
        compiled = [name for name, _ in compiled_functions()]
        console.print_json({"steps": list(STEPS), "compiled": compiled, "kept": not problem})
    elif not problem:
        typer.echo(f"Compiled: {', '.join(STEPS)}.")


def compiled_functions() -> Iterator[tuple[str, Any]]:
    """Every compiled function of the package, with its full name."""
    for module in pkgutil.walk_packages([str(_PACKAGE)], "rankwise."):
        if module.name.endswith("_jit"):
            for name, value in vars(importlib.import_module(module.name)).items():
                # Only compiled functions have one; inlined ones have nothing of their own.
                if hasattr(value, "py_func") and value.targetoptions.get("inline") != "always":
                    yield f"{module.name}.{name}", value


def cache_problem() -> str:
    """Why later processes will have to compile again; empty if they will not."""
    folders = [function.stats.cache_path for _, function in compiled_functions()]
    if not folders:
        return "nothing is compiled while NUMBA_DISABLE_JIT is set; unset it"
    # Without a folder that can be written, a function has no cache, and lasts as long as the process.
    if None in folders:
        return (
            "compiled, but what is compiled cannot be kept: neither the folder of the package nor that of a cache can "
            "be written; set NUMBA_CACHE_DIR to a folder that can"
        )
    return ""


def _full() -> Rankings:
    from rankwise.data import Rankings

    return Rankings([[1, 2, 3], [3, 1, 2]])


def _tied() -> Rankings:
    from rankwise.data import Rankings

    return Rankings([[1, 2, 2], [1, 2, 1]])


def _incomplete() -> Rankings:
    from rankwise.data import Rankings

    return Rankings([[1, 2, float("nan")], [3, 1, 2]])


def _rankings() -> None:
    _full().pairs()
    _full().pair_counts()


def _tables() -> None:
    import os
    import tempfile

    from rankwise.data import read_rankings

    # Large enough to be cut by compiled loops, with columns of few cells, of many numbers and of many texts.
    names = ",".join(f"rank_{letter}" for letter in "abcdefghijklmnopq")
    places = ",".join(map(str, range(1, 18)))
    rows = (f"{places},{0.37 * i:.3f},name {i}" for i in range(250_000))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([f"{names},share,who", *rows]))
        read_rankings(path, return_covariates=True)
        read_rankings(path, layout="positions")  # looks at the other columns, too


def _summary() -> None:
    from rankwise.analysis import summary

    for rankings in (_full(), _tied(), _incomplete()):
        summary(rankings)


def _groups() -> None:
    from rankwise.analysis import compare_groups

    compare_groups([[1, 2, 3], [2, 1, 3], [3, 1, 2], [3, 2, 1]], ["a", "a", "b", "b"], n_permutations=2)


def _distances() -> None:
    import numpy as np

    from rankwise import distances

    for rankings in (_full(), _tied(), _incomplete()):
        distances.kendall_distance(rankings, rankings)
        distances.footrule_distance(rankings, rankings)
        for metric in ("kendall", "footrule"):
            distances.pairwise_distances(rankings, metric=metric)
        distances.weighted_kendall_distance(rankings, rankings, position_weights=[1.0])
    many_items = np.ones((1, 3001))  # enough for pairs to be counted one by one
    distances.pairwise_distances(many_items)


def _agreement() -> None:
    from rankwise import metrics

    metrics.kendall_tau_score(_tied(), _tied())
    metrics.spearman_score(_tied(), _tied())


def _retrieval() -> None:
    import numpy as np

    from rankwise import metrics

    relevance, score, qid = np.array([0.0, 2.0, 1.0, 1.0]), np.array([0.1, 0.3, 0.2, 0.2]), np.array([0, 1, 0, 0])
    for metric in (
        metrics.ndcg_score,
        metrics.average_precision_score,
        metrics.reciprocal_rank_score,
        metrics.precision_score,
        metrics.err_score,
    ):
        metric(relevance, score, qid)


def _consensus() -> None:
    import numpy as np

    from rankwise.aggregation import (
        RunningConsensus,
        borda,
        constrained_kemeny,
        copeland,
        kemeny,
        kemeny_batch,
        schulze,
    )
    from rankwise.data import Rankings

    cycle = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 2.0], [2.0, 1.0, 0.0]])
    kemeny(cycle, method="dp")
    kemeny(cycle, method="ilp", random_state=0)
    for method in ("dp", "ilp", "local-search"):
        kemeny(cycle, method=method, ties="allow", random_state=0)
    kemeny_batch([cycle])
    schulze(cycle)
    RunningConsensus(3).partial_fit(_full())
    large = np.tile(np.arange(1.0, 5.0), (1 << 18, 1))  # large enough to be counted as it is given
    borda(large)
    copeland(large)
    Rankings(large).midranks()
    apart = np.subtract.outer(np.arange(1001), np.arange(1001)) % 1001  # so many cycles that they are not listed
    kemeny(((apart > 0) & (apart <= 500)).astype(float), time_limit=1.0, random_state=0)
    constrained_kemeny([np.arange(1, 20)], at_least=[(1, [18], 1)])
    # A fence of three and three items: triangles alone do not prove its consensus, odd cycles of triangles do.
    up, down = np.eye(3), 1 - np.eye(3)
    fence = 0.5 * np.block([[0 * up, up], [down, 0 * down]])
    for ties in ("none", "allow"):
        kemeny(fence, method="ilp", ties=ties, random_state=0)
    # Whoever is 1, 3, 4, 5 or 9 places behind loses: linear programs do not prove the consensus, sets of items do.
    kemeny(np.isin(np.subtract.outer(np.arange(11), np.arange(11)) % 11, (1, 3, 4, 5, 9)) * 1.0, method="ilp")


def _choice_models() -> None:
    import numpy as np

    from rankwise.aggregation import BestWorst, PlackettLuce

    PlackettLuce().fit(_full())
    model = PlackettLuce(alpha=1.0).fit(_tied())
    model.logpmf(_tied())
    model.scores(_tied())
    model.sample(1, random_state=0)
    for rankings in (_full(), _tied()):
        attributes = np.arange(float(np.prod(rankings.shape))).reshape(*rankings.shape, 1)
        PlackettLuce(alpha=1.0, weight_kind="survey").fit(rankings, item_features=attributes)
    BestWorst(alpha=1.0, weight_kind="survey").fit([[1, 2, 3]]).logpmf([[1, 2, 3]])


def _distance_models() -> None:
    import numpy as np

    from rankwise.aggregation import GeneralizedMallows, Mallows, sample_mallows

    sample_mallows([1, 2, 3], theta=1.0, n=1, random_state=0)
    for distance in ("kendall", "cayley", "hamming", "footrule", "spearman"):
        model = Mallows(distance).fit(_full())
        model.sample(1, random_state=0)
    Mallows().fit(_incomplete()).logpmf(_incomplete())
    many_items = np.arange(1.0, 21.0)  # enough for Spearman's law to be estimated
    model = Mallows("spearman", theta=1.0, center=many_items)
    model.logpmf([many_items])
    model.sample(1, random_state=0)
    by_stages = GeneralizedMallows().fit(_full())
    by_stages.sample(1, random_state=0)
    by_stages.pairwise_probabilities()


def _mixtures() -> None:
    import numpy as np

    from rankwise.aggregation import MallowsMixture, PlackettLuceMixture

    for distance in ("kendall", "footrule"):
        MallowsMixture(1, n_init=1, distance=distance).fit(_incomplete())
    MallowsMixture(2, n_init=3, random_state=0).fit([[1, 2, 3], [3, 1, 2], [2, 1, 3]])
    PlackettLuceMixture(1, n_init=1).fit(_tied())
    many_items = np.append(np.arange(1.0, 4.0), np.full(11, np.inf))  # so many completions that they are drawn
    MallowsMixture(1, distance="footrule").fit([many_items])


def _embeddings() -> None:
    from rankwise.embeddings import GraphCutEmbedding, SubmodularEmbedding

    chain = [[0, 1, 0], [1, 0, 3], [0, 3, 0]]  # on which neighbors merge, so that means over completions are needed
    GraphCutEmbedding(chain).fit_transform(_incomplete())
    SubmodularEmbedding(len).fit_transform(_full())


def _trees() -> None:
    import numpy as np

    from rankwise.trees import LeastSquaresTree

    X, y = np.arange(300.0)[:, None], np.eye(300, 2)
    y[2:, 0] = np.nan
    for max_bins in (2, None):  # features as codes of one byte, and of two
        LeastSquaresTree(max_bins=max_bins, honest=True, random_state=0).fit(X, y).predict(X)
    LeastSquaresTree(growth="level", max_depth=1).fit(X, y)


def _label_rankers() -> None:
    import numpy as np

    from rankwise.label_ranking import (
        BoostedRanker,
        DyadRanker,
        NearestNeighborsRanker,
        PlackettLuceRanker,
        RankingForest,
    )

    linear, dyads = PlackettLuceRanker(store_covariance=True), DyadRanker("boosted", n_estimators=1, min_samples_leaf=1)
    forest = RankingForest(1)
    for ranker in (NearestNeighborsRanker(), linear, dyads, forest):
        ranker.fit([[0.0], [1.0]], _tied()).predict([[0.0]])
    top = np.tile(np.append(np.arange(1.0, 1501), [np.inf, np.inf]), (2, 1))  # so many pairs that leaves hold rankings
    many = RankingForest(1, random_state=0).fit([[0.0], [1.0]], top)
    many.predict_pairwise([[0.0]])
    many.explain([[0.0]], 0, 1)
    forest.sample_rankings([[0.0]], law="mallows")
    forest.explain([[0.0]], 0, 1)
    for first, second in ((0, 1), (1, 0)):  # one of them is so already
        forest.counterfactual([[0.0]], first, second, immutable=[0])
    forest.prototypes([[0.0]], [[0.0]], _tied()[:1])
    for loss in ("pairwise_logistic", "plackett_luce"):
        boosted = BoostedRanker(1, loss=loss, min_samples_leaf=1, early_stopping=True, categorical_features=[0])
        boosted.fit(np.arange(4.0)[:, None] % 2, np.tile(_tied().positions, (2, 1)))
    forest.predict_top_proba([[0.0]], 2)
    forest.predict_top_proba([[0.0]], law="mallows")


def _kernels() -> None:
    from rankwise.kernels import kendall_kernel, mallows_kernel

    for rankings in (_full(), _tied(), _incomplete()):
        kendall_kernel(rankings, normalize=True)
        mallows_kernel(rankings, completion="monte-carlo", n_samples=2, random_state=0)
    kendall_kernel(_full(), position_weights="average")


def _screening() -> None:
    import numpy as np

    from rankwise.screening import ConcordanceSelector, SymbolicFeatures, concordant_divergence

    X, y = np.array([[1.0, 5.0], [2.0, 4.0], [3.0, 7.0], [5.0, 6.0]]), np.array([1.0, 2.0, 4.0, 3.0])
    for keys in ("float64", "float32"):
        concordant_divergence(X, y, keys=keys)
    selector = ConcordanceSelector(k=2, features=SymbolicFeatures("ub"), n_terms=1).fit(X, y)
    selector.transform(X)


def _query_rankers() -> None:
    import numpy as np
    from scipy.sparse import csr_matrix

    from rankwise.ltr import LambdaMART, LinearRanker, lambda_gradients

    X, y, qid = np.arange(8.0)[:, None], np.array([0.0, 1, 2, 1, 0, 0, 1, 2]), np.repeat([0, 1], 4)
    score = np.arange(8.0)
    for weight in ("ndcg", "map"):
        lambda_gradients(y, score, qid, weight=weight)
        lambda_gradients(y, 1000 * score, qid, weight=weight)  # so far apart that the exponential overflows
    lambda_gradients(y, score, qid, n_pairs=1, random_state=0)
    for tree in ("leaf", "level"):
        ranker = LambdaMART(1, tree=tree, random_state=0).fit(X, y, qid)
        ranker.predict(X)
        ranker.explain(X, 0, 1)
    for objective in ("listwise_approx_ndcg", "query_cross_entropy"):
        LambdaMART(1, objective=objective, random_state=0).fit(X, y, qid)
    LambdaMART(1, categorical_features=[0], random_state=0).fit(X, y, qid)
    rows = csr_matrix(X)
    LambdaMART(1, random_state=0).fit(rows, y, qid).predict(rows)
    for loss in ("pairwise_logistic", "pairwise_squared_hinge", "listwise_listmle"):
        LinearRanker(loss, random_state=0).fit(X, y, qid)
    LambdaMART(1, random_state=0).fit(X, pairs=[[0, 1]])


#: what a step is called -> what it runs
STEPS: dict[str, Callable[[], object]] = {
    "rankings": _rankings,
    "tables": _tables,
    "distances": _distances,
    "agreement": _agreement,
    "retrieval metrics": _retrieval,
    "consensus": _consensus,
    "summary": _summary,
    "groups": _groups,
    "models of choices": _choice_models,
    "models of distances": _distance_models,
    "mixtures": _mixtures,
    "embeddings": _embeddings,
    "trees": _trees,
    "label rankers": _label_rankers,
    "kernels": _kernels,
    "screening": _screening,
    "query rankers": _query_rankers,
}
