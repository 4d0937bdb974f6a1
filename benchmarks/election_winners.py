"""Winners of random elections by pref_voting 1.18.2 (pip install pref_voting), for the tests.

``python benchmarks/election_winners.py 40 > tests/golden/elections.json`` makes the golden cases. With 1000
instead of 40 it makes 3,000 profiles, to be compared by
``RANKWISE_GOLDEN_ELECTIONS=file.json python -m pytest -n0 tests/aggregation/test_elections_golden.py``.
One of these differs by design: of three items that tie, pref_voting draws lots among all three even if an earlier round
sets one of them apart, and `stv` among the other two.
"""

import json
import random
import sys
import warnings

import numpy as np
from pref_voting.grade_methods import score_voting
from pref_voting.grade_profiles import GradeProfile
from pref_voting.iterative_methods import instant_runoff_put
from pref_voting.margin_based_methods import beat_path, ranked_pairs
from pref_voting.other_methods import bucklin, bucklin_for_truncated_linear_orders, kemeny_young_rankings
from pref_voting.profiles import Profile
from pref_voting.profiles_with_ties import ProfileWithTies
from pref_voting.proportional_methods import stv_scottish
from pref_voting.scoring_methods import borda_ranking, plurality_ranking

warnings.simplefilter("ignore")


def ids(values):
    return sorted(int(value) for value in values)


def places(ranking, n_items):
    return [int(ranking.rmap[item]) for item in range(n_items)]


def stv_by_lot(profile, seats):
    found = {tuple(ids(stv_scottish(profile, num_seats=seats, rng=random.Random(seed)))) for seed in range(30)}
    return sorted(map(list, found))


def full_profile(rng):
    n_items, n = int(rng.integers(3, 7)), int(rng.integers(2, 14))
    utility = rng.normal(size=n_items) * rng.choice([0.0, 0.7]) + rng.normal(size=(n, n_items))
    orders = np.argsort(-utility, axis=1)
    weights = rng.integers(1, 4, n)
    profile = Profile(orders.tolist(), weights.tolist())
    seats = int(rng.integers(1, n_items))
    grades = [dict(enumerate(row)) for row in rng.integers(0, 6, (n, n_items)).tolist()]
    scores = GradeProfile(grades, list(range(6)), gcounts=weights.tolist())
    return {
        "orders": orders.tolist(),
        "weights": weights.tolist(),
        "seats": seats,
        "plurality": places(plurality_ranking(profile), n_items),
        "borda": places(borda_ranking(profile), n_items),
        "bucklin": ids(bucklin(profile)),
        "instant_runoff": ids(instant_runoff_put(profile)),
        "ranked_pairs": ids(ranked_pairs(profile, algorithm="from_stacks")),
        "schulze": ids(beat_path(profile)),
        "kemeny": sorted([int(i) for i in order] for order in kemeny_young_rankings(profile)[0]),
        "stv": stv_by_lot(profile, seats),
        "grades": [[row[i] for i in range(n_items)] for row in grades],
        "range": ids(score_voting(scores, evaluation_method="mean")),
    }


def short_profile(rng):
    n_items, n = int(rng.integers(3, 7)), int(rng.integers(2, 14))
    orders = [rng.permutation(n_items)[: rng.integers(1, n_items + 1)].tolist() for _ in range(n)]
    weights = rng.integers(1, 4, n).tolist()
    profile = ProfileWithTies(
        [{item: place for place, item in enumerate(order)} for order in orders],
        rcounts=weights,
        candidates=list(range(n_items)),
    )
    seats = int(rng.integers(1, n_items))
    return {
        "orders": orders,
        "weights": weights,
        "n_items": n_items,
        "seats": seats,
        "bucklin": ids(bucklin_for_truncated_linear_orders(profile)),
        "instant_runoff": ids(instant_runoff_put(profile, score_method="split")),
        "stv": stv_by_lot(profile, seats),
    }


def tied_profile(rng):
    n_items, n = int(rng.integers(3, 6)), int(rng.integers(2, 12))
    positions = rng.integers(1, n_items + 1, (n, n_items))
    weights = rng.integers(1, 4, n).tolist()
    profile = ProfileWithTies(
        [dict(enumerate(row)) for row in positions.tolist()], rcounts=weights, candidates=list(range(n_items))
    )
    seats = int(rng.integers(1, n_items))
    return {
        "positions": positions.tolist(),
        "weights": weights,
        "seats": seats,
        "instant_runoff": ids(instant_runoff_put(profile, score_method="split")),
        "ranked_pairs": ids(ranked_pairs(profile, algorithm="from_stacks")),
    }


if __name__ == "__main__":
    rng = np.random.default_rng(18)
    number = int(sys.argv[1])
    kinds = {"full": full_profile, "short": short_profile, "tied": tied_profile}
    json.dump({name: [make(rng) for _ in range(number)] for name, make in kinds.items()}, sys.stdout, indent=None)
