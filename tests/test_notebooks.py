"""What notebooks show of rankings, results and estimators."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from rankwise import Rankings
from rankwise.aggregation import bootstrap_consensus, kemeny
from rankwise.embeddings import SubmodularEmbedding, concave_of_size
from rankwise.kernels import VariationalClassifier
from rankwise.label_ranking import LabelwiseRanker, PairwiseRanker, StackedRanker
from rankwise.ltr import NeuralRanker
from rankwise.model_selection import compare
from tests.pages import HOSTILE, Page
from tests.persistence import fitted
from tests.public import public_classes

NAN, INF = float("nan"), float("inf")


class Table(Page):
    """The texts of cells, row by row, and of paragraphs; nothing comes from elsewhere."""

    def __init__(self, page: str) -> None:
        self.rows: list[list[str]] = []
        self.paragraphs: list[str] = []
        super().__init__(page)
        assert self.references == []
        assert "script" not in self.tags

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        elif tag == "p":
            self.paragraphs.append("")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("th", "td"):
            self.rows[-1][-1] += data
        elif self._open and self._open[-1] == "p":
            self.paragraphs[-1] += data


def test_rankings_are_a_table_of_positions():
    rankings = Rankings([[1, 2, 2], [2, 1, INF], [1, NAN, 2]], ["tea", HOSTILE, 3], weights=[1, 2.5, 1200])
    shown = Table(rankings._repr_html_())
    assert shown.rows == [
        ["", "weight", "tea", HOSTILE, "3"],
        ["0", "1", "1", "2", "2"],
        ["1", "2.5", "2", "1", "∞"],
        ["2", "1,200", "1", "-", "2"],
    ]
    assert shown.paragraphs == [
        "Rankings: 3 rankings of 3 items, incomplete",
        "positions, 1 = best; ∞ = unlisted; - = missing",
    ]


def test_long_and_wide_rankings_are_cut():
    page = Rankings(np.tile(np.arange(1, 1001), (5000, 1)))._repr_html_()
    shown = Table(page)
    assert len(page) < 4000
    assert len(shown.rows) == 7
    assert shown.rows[0] == ["", *map(str, range(12)), "..."]
    assert shown.rows[6] == ["5", *map(str, range(1, 13)), "..."]
    assert shown.paragraphs[1] == "positions, 1 = best; ... and 4,994 more rankings; ... and 988 more items"


def test_no_rankings_are_a_table_too():
    rankings = Rankings([[1, 2]])[[]]
    assert Table(rankings._repr_html_()).rows == [["", "0", "1"]]


def test_a_consensus_lists_items_best_first():
    shown = Table(kemeny(Rankings([[2, 1, 3]] * 3, ["a", HOSTILE, "c"]))._repr_html_())
    assert shown.rows == [["position", "item"], ["1", HOSTILE], ["2", "a"], ["3", "c"]]
    assert shown.paragraphs == ["Consensus: cost 0, proven optimal (condorcet)"]
    long = Table(kemeny([np.arange(1, 41)])._repr_html_())
    assert len(long.rows) == 31
    assert long.paragraphs[1] == "... and 10 more items"


def test_a_bootstrap_is_the_table_of_its_text():
    votes = Rankings([[1, 2, 3], [1, 3, 2], [1, 2, 3]] * 9, ["a", HOSTILE, "c"])
    result = bootstrap_consensus(votes, n_resamples=50, random_state=0)
    shown = Table(result._repr_html_())
    head, *lines = repr(result).splitlines()
    assert shown.paragraphs == [head]
    assert [" ".join(row).split() for row in shown.rows] == [line.split() for line in lines]


def test_a_comparison_is_the_table_of_its_text():
    result = compare({"new": [0.9, 0.8, 0.7, 0.9], HOSTILE: [0.7, 0.7, 0.6, 0.8]}, random_state=0)
    title, note, *lines = repr(result).splitlines()
    shown = Table(result._repr_html_())
    assert shown.paragraphs == [title, note]
    assert [" ".join(row).split() for row in shown.rows] == [line.split() for line in lines]
    assert shown.rows[1][0] == f"new - {HOSTILE}"


ESTIMATORS = [kind for kind in public_classes() if issubclass(kind, BaseEstimator)]


def links_in(estimator: BaseEstimator) -> list[str]:
    return re.findall(r'href="([^"]*)"', estimator_html_repr(estimator))


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_estimators_show_in_notebooks(kind):
    estimator = kind(concave_of_size(np.sqrt)) if kind is SubmodularEmbedding else kind()
    assert kind.__name__ in estimator_html_repr(estimator)
    # scikit-learn links classes of its own; it would guess where ours are described
    assert links_in(estimator) == []
    assert links_in(make_pipeline(StandardScaler(), estimator)) == links_in(
        make_pipeline(StandardScaler(), "passthrough")
    )


def test_fitted_estimators_show_in_notebooks():
    cases = [*fitted.fitted_label_rankers("full"), *fitted.fitted_others()]
    for estimator, _ in cases:
        page = estimator_html_repr(estimator)
        assert re.search(r'sk-estimator-doc-link fitted">i<span>Fitted', page), estimator
    not_fitted = set(ESTIMATORS) - {type(estimator) for estimator, _ in cases}
    assert not_fitted <= {
        NeuralRanker,
        SubmodularEmbedding,
        VariationalClassifier,
    }  # an extra; the others are not saved


def test_rankers_inside_of_others_show_in_notebooks():
    page = estimator_html_repr(StackedRanker([("pairs", PairwiseRanker()), ("places", LabelwiseRanker())]))
    assert "PairwiseRanker" in page
    assert "LabelwiseRanker" in page
