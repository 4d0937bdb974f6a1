"""One ranking from many: consensus rules, their uncertainty, statistics of preferences, and models of rankings."""

from rankwise.aggregation.active import next_pairs
from rankwise.aggregation.bootstrap import BootstrapConsensus, bootstrap_consensus
from rankwise.aggregation.bradley_terry import BradleyTerry
from rankwise.aggregation.hodge import HodgeProjection, hodge_projection
from rankwise.aggregation.kemeny import OptimalRankings, all_optimal, kemeny, kemeny_batch
from rankwise.aggregation.kemeny_result import Consensus
from rankwise.aggregation.long_lists import ListConsensus, aggregate_lists
from rankwise.aggregation.mallows import GeneralizedMallows, Mallows
from rankwise.aggregation.mallows_mixture import MallowsMixture
from rankwise.aggregation.pairs import PreferenceMatrix, preference_matrix
from rankwise.aggregation.plackett_luce import PlackettLuce
from rankwise.aggregation.positional import borda
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
from rankwise.aggregation.tournaments import copeland, kwiksort, mc4, schulze

__all__ = [
    "BootstrapConsensus",
    "BradleyTerry",
    "Consensus",
    "GeneralizedMallows",
    "HodgeProjection",
    "ListConsensus",
    "Mallows",
    "MallowsMixture",
    "OptimalRankings",
    "PlackettLuce",
    "PreferenceMatrix",
    "aggregate_lists",
    "all_optimal",
    "bootstrap_consensus",
    "borda",
    "copeland",
    "dispersion",
    "dispersion_u_statistic",
    "excess_risk",
    "hodge_projection",
    "is_stochastically_transitive",
    "kemeny",
    "kemeny_batch",
    "kemeny_risk",
    "kwiksort",
    "mc4",
    "median_distance_bound",
    "median_excess_bound",
    "median_risk_bound",
    "next_pairs",
    "noise_margin",
    "preference_matrix",
    "sample_mallows",
    "sample_plackett_luce",
    "schulze",
]
