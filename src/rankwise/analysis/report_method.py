"""The last section of a report: what the numbers mean, how they were computed, and what to cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankwise.aggregation import Consensus
    from rankwise.analysis.analysis import Analysis


def method_of(result: Analysis) -> dict[str, str]:
    """Terms of the report, each with its meaning; only those that occur in it.

    Parameters
    ----------
    result : Analysis
        What is reported.

    Returns
    -------
    dict of str to str
    """
    facts, found, spread = result.summary, result.consensus, result.consensus.bootstrap
    proof = "" if found.kemeny is None else _proof(found.kemeny)
    terms = {
        "Mean rank": (
            "The average place of an item, 1 being the best. Items that share a place get the mean of the places that "
            f"they fill. Its {100 * facts.level:g}% interval is based on Student's t distribution."
        ),
        "First choice, top three": "The share of rankings that put the item first, or among the first three.",
        "Joint ranking": (
            "Kemeny's rule: the order that contradicts the fewest preferences between two items, summed over all "
            f"rankings. {proof}"
        ),
    }
    if spread is not None:
        terms["Interval of a place"] = (
            f"From {spread.n_resamples:,} random samples of the rankings, drawn with replacement: the places that the "
            f"item may have, at a confidence of at least {100 * spread.level:g}%."
        )
    terms["Kendall's W"] = (
        "Agreement of all rankings: 0 if all items have the same mean rank, 1 if all rankings are the same."
    )
    test = result.group_comparison
    if test is not None:
        terms["Difference of groups"] = (
            "The test compares whole rankings of groups, not only means: how often do groups differ so much if people "
            f"are assigned to them at random? The {test.n_permutations:,} assignments also correct the tables of items "
            "and pairs for the number of comparisons."
        )
    if result.robustness is not None:
        terms["Votes that decide"] = (
            "The fewest people who would have to stay away, or to vote otherwise, for another winner; exact, or bounds "
            "where the search took too long."
        )
    if result.segments is not None:
        model = {"mallows": "Mallows models", "plackett-luce": "Plackett-Luce models"}[result.segments.model]
        terms["Segments"] = (
            f"A mixture of {model}: everyone belongs to one of several groups, each with a ranking of its own. Their "
            "number is the one of the lowest BIC, a criterion that punishes needless groups."
        )
    if result.drivers is not None:
        terms["What drives the rankings"] = (
            "A forest predicts rankings of people that it has not seen. A feature matters if the predictions become "
            "worse when its values are shuffled among people; p-values are corrected for the number of features. That "
            "is a relation, not a cause."
        )
    if result.raters is not None:
        terms["Agreement of a judge"] = (
            "The share of the pairs of items that the judge puts in the same order as the joint ranking; "
            "a pair that one of them ties counts half."
        )
    if result.tree is not None:
        terms["Groups of the tree"] = (
            "A decision tree splits the rankings by one feature at a time, so that they agree as much as possible "
            "within groups. It is pruned by cross-validation, so that it does not follow chance."
        )
    if result.n_learned < facts.n_rankings and result.leaderboard is not None:
        terms["Samples"] = (
            f"The tree and the models use a random sample of {result.n_learned:,} rankings, all other results use all."
        )
    terms["Random numbers"] = f"They start from the seed {result.seed}: the same data give the same report."
    return terms


def sources_of(result: Analysis) -> list[str]:
    """What to cite, for what is in the report."""
    sources = [
        "Joint ranking: Kemeny (1959), Mathematics without numbers. Daedalus 88.",
        "Agreement: Kendall, Babington Smith (1939), The problem of m rankings. Annals of Mathematical Statistics 10.",
    ]
    if result.consensus.bootstrap is not None:
        sources.append(
            "Intervals of places: Hall, Miller (2009), Using the bootstrap to quantify the authority of an empirical "
            "ranking. Annals of Statistics 37."
        )
    if result.group_comparison is not None:
        sources.append(
            "Groups: Mania, Ramdas, Wainwright, Jordan, Recht (2018), On kernel methods for covariates that are "
            "rankings. Electronic Journal of Statistics 12."
        )
    if result.segments is not None:
        sources.append(
            "Segments: Murphy, Martin (2003), Mixtures of distance-based models for ranking data. Computational "
            "Statistics & Data Analysis 41."
        )
    if result.leaderboard is not None:
        sources += [
            "Tree: Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local "
            "consensus. Algorithmic Learning Theory.",
            "Forest: Geurts, Ernst, Wehenkel (2006), Extremely randomized trees. Machine Learning 63.",
            "Plackett-Luce: Plackett (1975), The analysis of permutations. Applied Statistics 24.",
        ]
    return sources


def _proof(best: Consensus) -> str:
    if not best.optimal:
        return (
            f"No proof was found within the time limit; another order can be better by {100 * best.gap:.2g}% at most."
        )
    others = {True: ", and that no other is as good", False: ", but others are as good", None: ""}[best.unique]
    return f"A proof shows that no order is better{others}."
