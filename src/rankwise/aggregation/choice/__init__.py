"""Models of choices: Plackett-Luce, Bradley-Terry, what to ask next, and how sure a consensus is."""

from rankwise.aggregation.choice.active import next_pairs
from rankwise.aggregation.choice.bradley_terry import BradleyTerry
from rankwise.aggregation.choice.intervals import RankingIntervals, ranking_intervals
from rankwise.aggregation.choice.plackett_luce import PlackettLuce

__all__ = ["BradleyTerry", "PlackettLuce", "RankingIntervals", "next_pairs", "ranking_intervals"]
