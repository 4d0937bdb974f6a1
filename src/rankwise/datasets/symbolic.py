"""Symbolic regression data: a cubic law, and candidate transformations of one variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from rankwise._typing import FloatArray, RandomState
from rankwise._validation import check_choice, check_generator, check_scales, check_sizes

# Table 1 of the paper, one block a problem; the last transformation of a block is the true one.
_TABLE1: dict[str, dict[str, Callable[[FloatArray], FloatArray]]] = {
    "table1-1": {
        "x": lambda x: x,
        "2 sin(x)": lambda x: 2 * np.sin(x),
        "2 sin(7 x)": lambda x: 2 * np.sin(7 * x),
        "sin(x)": np.sin,
    },
    "table1-2": {
        "x": lambda x: x,
        "sin(4 x + 0.2)": lambda x: np.sin(4 * x + 0.2),
        "sin(4 x + 0.1)": lambda x: np.sin(4 * x + 0.1),
        "sin(4 x)": lambda x: np.sin(4 * x),
    },
    "table1-3": {
        "x": lambda x: x,
        "cos(x)": np.cos,
        "sin(2 x)": lambda x: np.sin(2 * x),
        "sin(x)": np.sin,
    },
    "table1-4": {
        "x": lambda x: x,
        "sin(4 x)": lambda x: np.sin(4 * x),
        "sin(6 x)": lambda x: np.sin(6 * x),
        "sin(5 x)": lambda x: np.sin(5 * x),
    },
}


def make_symbolic_regression(
    n_samples: int = 100,
    *,
    noise: float = 0.0,
    problem: Literal["cubic", "table1-1", "table1-2", "table1-3", "table1-4"] = "cubic",
    distribution: Literal["normal", "uniform"] | None = None,
    random_state: RandomState = None,
) -> tuple[FloatArray, FloatArray, Any]:
    r"""Regression data whose law is a short expression.

    *Definition.* "cubic": :math:`y = 2 x_1^3 + 5 x_3 + 10 + \epsilon` with x uniform on :math:`[0, 1]^3`.
    "table1-b": the columns of X are four transformations of one variable, and y is the last of them plus
    :math:`\epsilon`. Always :math:`\epsilon \sim N(0, \text{noise}^2)`.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows (the paper has 100 for "cubic" and 500 for its Table 1).
    noise : float, default=0.0
        *Standard deviation* of the noise. The paper states variances: its 0.01, 0.1 and 1 are 0.1, 0.316 and 1.
    problem : {"cubic", "table1-1", "table1-2", "table1-3", "table1-4"}, default="cubic"
        The law; Table 1 has four blocks.
    distribution : {"normal", "uniform"}, optional
        Law of the variable in Table 1: N(0, 1) as the paper states (the default), or U(0, 0.5), where all its rows
        for correlations and concordant divergence come out as printed.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from. The same seed gives the same X whatever the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 3) or (n_samples, 4)
    y : ndarray of shape (n_samples,)
    bunch : Bunch
        ``signal`` (y without noise), ``feature_names``, ``expression`` (the law as text) and ``informative`` (the
        columns that it uses).

    Notes
    -----
    In the first block of Table 1 the percentages printed below 2 sin(7 x) and sin(x) belong to the other column.

    References
    ----------
    Luo, Li, Ranking perspective for tree-based methods with applications to symbolic feature selection, section 6.1 and
    Table 1.

    Examples
    --------
    >>> from rankwise.datasets import make_symbolic_regression
    >>> X, y, bunch = make_symbolic_regression(noise=0.1, random_state=0)
    >>> bunch.expression, bunch.informative
    ('2 x1^3 + 5 x3 + 10', [0, 2])
    """
    check_choice("problem", problem, ("cubic", *_TABLE1))
    check_sizes(n_samples=n_samples)
    check_scales(noise=noise)
    rng = check_generator(random_state)

    from sklearn.utils import Bunch

    if problem == "cubic":
        if distribution is not None:
            raise ValueError("distribution is for the problems of Table 1; the features of 'cubic' are uniform")
        X = rng.random((n_samples, 3))
        signal = 2 * X[:, 0] ** 3 + 5 * X[:, 2] + 10
        bunch = Bunch(
            signal=signal, feature_names=["x1", "x2", "x3"], expression="2 x1^3 + 5 x3 + 10", informative=[0, 2]
        )
    else:
        x = _variable(distribution, n_samples, rng)
        names = list(_TABLE1[problem])
        X = np.column_stack([transformation(x) for transformation in _TABLE1[problem].values()])
        signal = X[:, -1].copy()
        bunch = Bunch(signal=signal, feature_names=names, expression=names[-1], informative=[len(names) - 1])
    return X, signal + noise * rng.standard_normal(n_samples), bunch


def _variable(distribution: str | None, n_samples: int, rng: np.random.Generator) -> FloatArray:
    if distribution is None or distribution == "normal":
        return rng.standard_normal(n_samples)
    check_choice("distribution", distribution, ("normal", "uniform"))
    return rng.uniform(0, 0.5, n_samples)
