"""Label ranking data with cells: each cell of a grid has its own central ranking."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray, IntArray, RandomState
from rankwise._validation import check_generator, check_sizes
from rankwise.data import Rankings
from rankwise.datasets.feature_laws import GridFeatures
from rankwise.datasets.oracle import RankingOracle


def make_cell_label_ranking(
    n_samples: int = 1000,
    n_items: int = 5,
    *,
    setting: Literal[1, 2, 3] = 1,
    n_cells: int = 6,
    theta: float | None = None,
    random_state: RandomState = None,
) -> tuple[FloatArray, Rankings, Any]:
    """Rank items by the cell of a grid that a sample falls into.

    Two features are cut into a grid of equally likely cells, as square as ``n_cells`` allows: 6 cells are 2 times
    3, a tree of depth 3. Each cell has a central ranking, drawn uniformly; its samples repeat the center, or
    follow a Mallows model around it.

    Parameters
    ----------
    n_samples, n_items : int
        Number of rows and of items.
    setting : {1, 2, 3}, default=1
        1: both features uniform on [0, 1]; 2: the second is categorical; 3: both are. A categorical feature has
        one level for each interval of the grid, coded 0, 1, 2, ...
    n_cells : int, default=6
        Number of cells.
    theta : float, optional
        Concentration of the Mallows model (larger = spikier; the paper writes phi). None: constant on each cell.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from. The same seed gives the same X and centers whatever theta.

    Returns
    -------
    X : ndarray of shape (n_samples, 2), float64
    y : Rankings
        Full rankings, 1 = best.
    bunch : Bunch
        ``cell`` (n_samples,) from 0, ``centers`` (Rankings, one per cell), ``cells`` (the cells in words),
        ``thresholds`` (inner borders of each feature), ``categorical_features`` (columns of codes), ``oracle`` (a
        `RankingOracle`: fresh rows of the same law).

    References
    ----------
    Clémençon, Korba, Sibony (2018), Ranking median regression: learning to order through local consensus, section
    5.1. The paper fixes the number of cells and the depth, not the borders.

    Examples
    --------
    >>> from rankwise.datasets import make_cell_label_ranking
    >>> X, y, bunch = make_cell_label_ranking(setting=2, theta=2.0, random_state=0)
    >>> bunch.categorical_features, bunch.cells[5]
    ([1], 'x1 >= 0.5 and x2 = 2')
    """
    check_sizes(n_samples=n_samples)
    grid = GridFeatures.of_cells(n_cells, setting)
    rng = check_generator(random_state)
    X = grid.sample(n_samples, rng)
    oracle = RankingOracle.cells(n_items, setting=setting, n_cells=n_cells, theta=theta, random_state=rng)
    y = oracle.draw(X, rng).observed

    from sklearn.utils import Bunch

    categorical = list(grid.categorical)
    bunch = Bunch(
        cell=grid.cell_of(X),
        centers=Rankings(oracle.m.centers),
        cells=_cells_in_words(grid.levels, categorical),
        thresholds=[np.arange(1, size) / size for size in grid.levels],
        categorical_features=categorical,
        oracle=oracle,
    )
    return X, y, bunch


def _cells_in_words(levels: IntArray, categorical: list[int]) -> tuple[str, ...]:
    return tuple(
        " and ".join(
            _interval_in_words(f"x{column + 1}", index, levels[column], column in categorical)
            for column, index in enumerate((first, second))
        )
        for first in range(levels[0])
        for second in range(levels[1])
    )


def _interval_in_words(name: str, index: int, size: int, is_categorical: bool) -> str:
    if is_categorical:
        return f"{name} = {index}"
    low, high = f"{index / size:.3g}", f"{(index + 1) / size:.3g}"
    if size == 1:
        return f"any {name}"
    if index == 0:
        return f"{name} < {high}"
    return f"{name} >= {low}" if index == size - 1 else f"{low} <= {name} < {high}"
