"""Random generators from whatever the user calls a random state."""

from __future__ import annotations

from numbers import Integral
from zlib import crc32

import numpy as np

from rankwise._typing import RandomState


def check_generator(random_state: RandomState, salt: str = "") -> np.random.Generator:
    """Return a NumPy generator.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        ``None`` draws fresh entropy; an integer gives the same numbers every time; a ``Generator`` is used as
        it is; a legacy ``RandomState`` seeds a new generator (and advances).
    salt : str, default=""
        Numbers for an integer depend on it. Functions that disturb what others have drawn give their name, as users
        give one seed to all: with the same numbers the disturbance would depend on what it disturbs.

    Returns
    -------
    numpy.random.Generator
    """
    if random_state is None or (isinstance(random_state, Integral) and not isinstance(random_state, bool)):
        if random_state is not None and random_state < 0:
            raise ValueError(f"random_state is {random_state}, but a seed must not be negative")
        if random_state is None or not salt:
            return np.random.default_rng(random_state)
        return np.random.default_rng([int(random_state), crc32(salt.encode())])
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    raise TypeError(
        f"random_state is of type {type(random_state).__name__}; give None, an integer seed, "
        "a numpy.random.Generator or a numpy.random.RandomState"
    )
