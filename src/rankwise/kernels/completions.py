"""Random full rankings that agree with a ranking of any kind, in antithetic pairs."""

from __future__ import annotations

import numpy as np

from rankwise._typing import FloatArray
from rankwise.embeddings.completions import Structure, levels_of, slots_of


def sample_completions(positions: FloatArray, n_samples: int, seed: int, side: int) -> FloatArray:
    """Full rankings drawn evenly from all that agree with each ranking.

    What is drawn for a ranking depends on the ranking, the seed and the side alone, so that a ranking has the same
    completions in every call and in every set of rankings, and different rankings have independent ones.

    A random order of all items says where missing items stand, and which of tied (or unlisted) items comes first. Its
    reverse does as well: every second completion is made from it. For top-k rankings that is the completion with the
    unlisted items reversed, the farthest from the first.

    Parameters
    ----------
    positions : ndarray of shape (n, k)
        Dense positions of any kind.
    n_samples : int
        Completions of each ranking, an even number.
    seed, side : int
        Different sides of one seed give independent completions.

    Returns
    -------
    ndarray of shape (n, n_samples, k)
        Places 1 to k.
    """
    n, k = positions.shape
    levels = levels_of(positions)
    slots = slots_of(levels)
    result = np.empty((n, n_samples, k))
    keys = np.empty((n_samples, k))
    for row, level in enumerate(levels):
        keys[0::2] = np.random.default_rng([seed, side, *(level + 1).tolist()]).random((n_samples // 2, k))
        keys[1::2] = 1 - keys[0::2]
        result[row] = Structure.of(level).sample("full", keys)[:, slots[row]] + 1
    return result
