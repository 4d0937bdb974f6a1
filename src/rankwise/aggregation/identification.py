"""Which coefficients no data can tell.

For the choice models and `PlackettLuceRanker`: `refuse_unidentified` raises, and `prior_notes` says so of a fit with a
prior. `separated_items` names the items that always win or lose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwise._typing import FloatArray
from rankwise._validation import shortlist
from rankwise.aggregation._likelihood import separated_items as separated_items


def refuse_unidentified(information: FloatArray, names: Sequence[str], noun: str, constant: str) -> None:
    """Raise if attributes or features do not vary, or say the same as others; they are named.

    Parameters
    ----------
    information : ndarray of shape (n, n)
        Information of the coefficients where all are 0, of attributes or features of about unit variance.
    names : sequence of str
        Their names.
    noun : {"attribute", "feature"}
        What they are.
    constant : str
        Where they have to vary, such as "for all items that are compared with each other".
    """
    which, involved = _unidentified(information, names)
    if which:
        raise ValueError(f"{_are_the_same(which, noun, constant)}, so nothing is known about the coefficient; drop it")
    if involved:
        raise ValueError(
            f"{noun}s {shortlist(involved)} are collinear: each of them follows from the others, so their coefficients "
            "cannot be told apart. Drop one of them, or use a prior (such as alpha=0.1)"
        )


def prior_notes(
    information: FloatArray, names: Sequence[str], noun: str, constant: str, prior: str = "prior"
) -> tuple[str, ...]:
    """Notes on coefficients that are up to a prior, or a penalty, alone; arguments as of `refuse_unidentified`."""
    which, involved = _unidentified(information, names)
    notes = []
    if which:
        whose = "the coefficient is that" if len(which) == 1 and noun == "attribute" else "the coefficients are those"
        notes.append(f"{_are_the_same(which, noun, constant)}: {whose} of the {prior} alone")
    if involved:
        notes.append(
            f"{noun}s {shortlist(involved)} are collinear, each of them follows from the others: how their effect is "
            f"divided among them is up to the {prior} alone"
        )
    return tuple(notes)


def _are_the_same(which: list[str], noun: str, constant: str) -> str:
    many = len(which) > 1
    return f"{noun}{'s' * many} {shortlist(which)} {'are' if many else 'is'} the same {constant}"


def _unidentified(information: FloatArray, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of what does not vary, and of what is collinear among the rest."""
    variance = information.diagonal()
    same = variance <= 1e-12 * max(float(variance.max(initial=0.0)), 1e-300)
    constant = [name for name, is_same in zip(names, same, strict=True) if is_same]
    rest = np.flatnonzero(~same)
    if not len(rest):
        return constant, []
    scale = np.sqrt(variance[rest])
    values, vectors = np.linalg.eigh(information[np.ix_(rest, rest)] / np.outer(scale, scale))
    flat = vectors[:, values < 1e-10 * values[-1]]
    involved = np.abs(flat).max(axis=1, initial=0.0) > 1e-4
    return constant, [names[column] for column in rest[involved]]
