"""The names of consensus rules, in the library and on the command line.

They stand in a module that imports nothing, so that ``rankwise consensus --help`` lists them without loading NumPy.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

#: how matrices of pairwise probabilities become rankings: `decode_pairwise` and the label rankers
Decoder: TypeAlias = Literal["kemeny", "borda", "copeland", "copeland-or-borda"]
#: how many rankings become one: the table `CONSENSUS_RULES`, the bootstrap, the analysis and ``rankwise consensus``
ConsensusRule: TypeAlias = Literal[
    Decoder,
    "schulze",
    "ranked-pairs",
    "plurality",
    "bucklin",
    "instant-runoff",
    "stv",
    "range",
    "footrule",
    "spearman",
    "hamming",
    "cayley",
    "mallows",
    "plackett-luce",
]


_IN_WORDS = {"stv": "STV", "copeland-or-borda": "Copeland or Borda", "plackett-luce": "Plackett-Luce"}
_PEOPLE = ("kemeny", "borda", "copeland", "schulze", "bucklin", "spearman", "hamming", "cayley", "mallows")


def rule_in_words(rule: str) -> str:
    """The name of a rule as people write it: those of persons with a capital letter, others in plain words.

    Examples
    --------
    >>> rule_in_words("kemeny"), rule_in_words("instant-runoff"), rule_in_words("stv")
    ('Kemeny', 'instant runoff', 'STV')
    """
    return rule.capitalize() if rule in _PEOPLE else _IN_WORDS.get(rule, rule.replace("-", " "))


def rule_name(given: str) -> str:
    """The name of a rule as the table has it, for one that people wrote in their own way.

    Examples
    --------
    >>> rule_name(" Ranked Pairs"), rule_name("plackett_luce")
    ('ranked-pairs', 'plackett-luce')
    """
    return "-".join(given.lower().replace("_", " ").replace("-", " ").split())
