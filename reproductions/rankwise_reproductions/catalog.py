"""Which papers and experiments there are."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass

from rankwise_reproductions.experiment import Experiment

#: modules that hold an ``EXPERIMENTS`` tuple; imported on use, since they bring in the whole library
MODULES: tuple[str, ...] = (
    "label_ranking.figure_1",
    "label_ranking.figure_2",
    "label_ranking.tables_4_5",
    "label_ranking.tables_6_7",
    "label_ranking.theorem_2_1",
    "label_ranking.theorem_2_5",
    "label_ranking.theorems_a_5_a_6",
    "label_ranking.theorem_c_2",
    "ranking_median.table_1",
    "ranking_median.job_values",
    "ranking_median.theorem_3",
    "ranking_median.propositions_6_7",
    "ranking_median.theorem_9",
    "ranking_median.theorem_13",
    "ranking_median.bagging",
    "ranking_median.dispersion",
    "learning_to_rank.chain",
    "learning_to_rank.refresh",
    "learning_to_rank.newton",
    "tree_ranking.table_1",
    "tree_ranking.figure_4",
    "tree_ranking.figures_5_6",
    "tree_ranking.table_3",
    "tree_ranking.theorems_10_13",
    "tree_ranking.examples",
    "tree_ranking.catalysis",
    "graph_cut_kernel.section_3",
    "graph_cut_kernel.printed_features",
    "graph_cut_kernel.figure_4",
    "graph_cut_kernel.figure_4_published",
    "graph_cut_kernel.figure_5",
    "graph_cut_kernel.elbo",
    "graph_cut_kernel.figure_6",
)


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments are reproduced."""

    name: str
    title: str
    authors: str
    source: str


PAPERS = {
    paper.name: paper
    for paper in (
        Paper(
            "label-ranking",
            "Label Ranking through Nonparametric Regression",
            "Fotakis, Kalavasis, Psaroudaki",
            "ICML 2022, arXiv 2111.02749",
        ),
        Paper(
            "ranking-median",
            "Ranking Median Regression: Learning to Order through Local Consensus",
            "Clémençon, Korba, Sibony",
            "ALT 2018, arXiv 1711.00070",
        ),
        Paper(
            "tree-ranking",
            "Ranking perspective for tree-based methods with applications to symbolic feature selection",
            "Luo, Li",
            "2024, arXiv 2410.02623",
        ),
        Paper("learning-to-rank", "Learning to Rank", "Stratos", "lecture notes"),
        Paper(
            "graph-cut-kernel",
            "The graph cut kernel for ranked data",
            "Conserva, Deisenroth, Sesh Kumar",
            "TMLR 2022",
        ),
    )
}


def experiments() -> dict[str, Experiment]:
    """All experiments by id, in the order of the papers."""
    found = [
        experiment
        for module in MODULES
        for experiment in importlib.import_module(f"{__package__}.{module}").EXPERIMENTS
    ]
    order = list(PAPERS)
    return {experiment.id: experiment for experiment in sorted(found, key=lambda one: order.index(one.paper))}


def chosen(name: str) -> list[Experiment]:
    """The experiments of an id, of a paper's name, or all.

    Parameters
    ----------
    name : str
        An id, a paper, or ``"all"``.

    Returns
    -------
    list of Experiment
        At least one.
    """
    known = experiments()
    found = [one for one in known.values() if name in (one.id, one.paper, "all")]
    if not found:
        close = difflib.get_close_matches(name, [*PAPERS, *known]) or [one for one in known if name in one]
        meant = f"did you mean {' or '.join(close[:3])}? See" if close else "see"
        raise ValueError(f"there is no experiment or paper {name!r}; {meant} `rankwise reproduce list`")
    return found
