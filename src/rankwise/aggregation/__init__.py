"""One ranking from many: consensus rules, their uncertainty, statistics of preferences, and models of rankings."""

from rankwise.aggregation.active import next_pairs
from rankwise.aggregation.best_worst import BestWorst, best_worst_rankings
from rankwise.aggregation.bootstrap import BootstrapConsensus, bootstrap_consensus
from rankwise.aggregation.bradley_terry import BradleyTerry
from rankwise.aggregation.constrained import constrained_kemeny
from rankwise.aggregation.election import Election, Round
from rankwise.aggregation.elections import bucklin, plurality, range_voting
from rankwise.aggregation.hodge import HodgeProjection, hodge_projection
from rankwise.aggregation.item_features import interactions
from rankwise.aggregation.kemeny import OptimalRankings, all_optimal, kemeny, kemeny_batch
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.long_lists import ListConsensus, aggregate_lists
from rankwise.aggregation.mallows import GeneralizedMallows, Mallows
from rankwise.aggregation.mallows_mixture import MallowsMixture
from rankwise.aggregation.margin_of_victory import MarginOfVictory, margin_of_victory
from rankwise.aggregation.medians import MedianRanking, median_ranking
from rankwise.aggregation.model_summary import ModelSummary
from rankwise.aggregation.pairs import PreferenceMatrix, preference_matrix
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.aggregation.plackett_luce_mixture import PlackettLuceMixture
from rankwise.aggregation.positional import borda
from rankwise.aggregation.ranked_pairs import RankedPairs, ranked_pairs
from rankwise.aggregation.runoffs import instant_runoff, stv
from rankwise.aggregation.samplers import sample_mallows, sample_plackett_luce
from rankwise.aggregation.statistics import (
    dispersion,
    dispersion_u_statistic,
    excess_risk,
    is_stochastically_transitive,
    kemeny_risk,
    median_distance_bound,
    median_excess_bound,
    median_risk_bound,
    noise_margin,
)
from rankwise.aggregation.stream import RunningConsensus
from rankwise.aggregation.tournaments import copeland, kwiksort, mc4, schulze

__all__ = [
    "BestWorst",
    "BootstrapConsensus",
    "BradleyTerry",
    "Consensus",
    "Election",
    "GeneralizedMallows",
    "HodgeProjection",
    "ListConsensus",
    "Mallows",
    "MallowsMixture",
    "MarginOfVictory",
    "MedianRanking",
    "ModelSummary",
    "OptimalRankings",
    "PlackettLuce",
    "PlackettLuceMixture",
    "PreferenceMatrix",
    "RankedPairs",
    "Round",
    "RunningConsensus",
    "aggregate_lists",
    "all_optimal",
    "best_worst_rankings",
    "bootstrap_consensus",
    "borda",
    "bucklin",
    "constrained_kemeny",
    "copeland",
    "dispersion",
    "dispersion_u_statistic",
    "excess_risk",
    "hodge_projection",
    "instant_runoff",
    "interactions",
    "is_stochastically_transitive",
    "kemeny",
    "kemeny_batch",
    "kemeny_risk",
    "kwiksort",
    "margin_of_victory",
    "mc4",
    "median_distance_bound",
    "median_excess_bound",
    "median_ranking",
    "median_risk_bound",
    "next_pairs",
    "noise_margin",
    "plurality",
    "preference_matrix",
    "range_voting",
    "ranked_pairs",
    "sample_mallows",
    "sample_plackett_luce",
    "schulze",
    "stv",
]
