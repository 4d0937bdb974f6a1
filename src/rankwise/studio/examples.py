"""Files to try the studio with: a survey, a jury, an election and search results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_JURY = """Wine,Anna,Ben,Cleo,Dora,Emil,Fay,Gus
Malbec,3,3,2,2,4,3,3
Merlot,1,2,1,3,1,5,2
Rioja,4,5,4,4,3,1,4
Syrah,2,1,3,1,2,4,1
Zinfandel,5,4,5,5,5,2,5
"""
_ELECTION = """# FILE NAME: 00000-00000001.soi
# TITLE: Example election
# DATA TYPE: soi
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: 100
# NUMBER UNIQUE ORDERS: 6
# ALTERNATIVE NAME 1: Alder
# ALTERNATIVE NAME 2: Birch
# ALTERNATIVE NAME 3: Cedar
# ALTERNATIVE NAME 4: Dogwood
28: 1,2,3,4
22: 3,2,4
20: 2,3,1,4
14: 4,2,1
10: 1,4
6: 3
"""
_DRINKS = ("Tea", "Coffee", "Juice", "Water", "Milk")
_CITIES = ("Bonn", "Oslo", "Rome")


class Example(NamedTuple):
    """A file to try.

    Attributes
    ----------
    title : str
        What it is, in a few words.
    file : str
        Its name.
    kind : {"survey", "search"}
        What it holds.
    content : callable
        Makes its bytes.
    options : dict
        Options of the project.
    """

    title: str
    file: str
    kind: str
    content: Callable[[], bytes]
    options: dict[str, Any]


def _drinks() -> bytes:
    """A survey of 240 people: young ones like juice, people in Oslo coffee; a few leave drinks out."""
    rng = np.random.default_rng(7)
    lines = ["person,age,city,finished," + ",".join(f"rank_{drink}" for drink in _DRINKS)]
    for person in range(1, 241):
        age, city = int(rng.integers(18, 80)), str(rng.choice(_CITIES))
        taste = np.array([1.2, 0.8, 0.6, 0.4, 0.0])
        taste[2] += 1.6 * (age < 35)
        taste[1] += 1.3 * (city == "Oslo")
        order = np.argsort(-(taste + rng.gumbel(size=len(_DRINKS))))
        places = [""] * len(_DRINKS)
        for place, drink in enumerate(order, 1):
            places[drink] = str(place)
        if rng.random() < 0.08:
            places[int(order[-1])] = ""
        finished = "no" if rng.random() < 0.05 else "yes"
        lines.append(f"P{person:03d},{age},{city},{finished},{','.join(places)}")
    return ("\n".join(lines) + "\n").encode()


def _search() -> bytes:
    """Graded documents of 60 queries with 12 features."""
    from rankwise.datasets import make_retrieval

    X, y, qid = make_retrieval(n_queries=60, random_state=0)[:3]
    lines = []
    for row, grade, query in zip(X, y, qid, strict=True):
        features = " ".join(f"{number}:{value:.4g}" for number, value in enumerate(row, 1))
        lines.append(f"{int(grade)} qid:{int(query)} {features}")
    return ("\n".join(lines) + "\n").encode()


#: files to try, by name
EXAMPLES: dict[str, Example] = {
    "drinks": Example("A survey: which drinks do people like?", "drinks.csv", "survey", _drinks, {}),
    "jury": Example("A jury: seven judges, five wines", "jury.csv", "survey", _JURY.encode, {"layout": "judges"}),
    "election": Example("An election in PrefLib's format", "election.soi", "survey", _ELECTION.encode, {}),
    "search": Example("Search results: graded documents (LETOR)", "search.txt", "search", _search, {}),
}
