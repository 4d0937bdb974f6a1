"""Sample sizes: the printed formulas by hand, and rates that invert them."""

from __future__ import annotations

from math import comb, log, log2

import pytest

from rankwise.label_ranking import forest_error, forest_rows, pairwise_error, pairwise_rows, tree_error, tree_rows

PROBLEM = {"n_features": 50, "n_items": 4, "sparsity": 3}
EPS, DELTA, D, K, R, C = 0.2, 0.05, 50, 4, 3, 1.5


@pytest.mark.parametrize("constant", [1.0, 7.0])
@pytest.mark.parametrize(
    ("options", "rows"),
    [
        # Theorem A.3, 1(a), 1(b), 2(a), 2(b)
        ({"growth": "level"}, log(D * K / DELTA) * K ** (C * R + 2) * (C * R / EPS) ** (C * R + 2)),
        ({"growth": "level", "independent": True}, log(D * K / DELTA) * 2**R * K**2 * (C / EPS) ** 2),
        ({"growth": "best"}, log(D * K / DELTA) * K ** (C * R + 3) * (C * R / EPS) ** (C * R + 3)),
        ({"growth": "best", "independent": True}, log(D * K / DELTA) * K**3 * C**2 * 2**R / EPS**3),
    ],
)
def test_trees(options, rows, constant):
    size = tree_rows(EPS, DELTA, **PROBLEM, C=C, constant=constant, **options)
    assert size.n_samples == pytest.approx(constant * rows)
    extra = 2 if options["growth"] == "level" else 3
    depth = R if "independent" in options else C * R / (C * R + extra) * (log2(constant * rows) - log2(log(D / DELTA)))
    assert size.depth == pytest.approx(depth)
    assert tree_error(size.n_samples, DELTA, **PROBLEM, C=C, constant=constant, **options) == pytest.approx(EPS)


@pytest.mark.parametrize("growth", ["level", "best"])
def test_forests(growth):
    beta, zeta = 0.1, 0.5
    size = forest_rows(EPS, DELTA, **PROBLEM, beta=beta, zeta=zeta, growth=growth, constant=2.0)
    if growth == "level":  # theorem A.5
        rows = 2**R * K * log(K / DELTA) / EPS * (log(D) / beta**2 + 1 / zeta)
        part = 2**R * (log(D * K / DELTA) / beta**2 + log(K / DELTA) / zeta)
    else:  # theorem A.6
        rows = 2**R * K * log(D * K / DELTA) / (EPS * zeta * beta**2)
        part = 2**R * log(D * K / DELTA) / (zeta * beta**2)
    assert size == pytest.approx((2 * rows, 2 * part))
    error = forest_error(size.n_samples, DELTA, **PROBLEM, beta=beta, zeta=zeta, growth=growth, constant=2.0)
    assert error == pytest.approx(EPS)


@pytest.mark.parametrize("phi", [1.0, 0.3])
def test_pairwise(phi):
    a, B, vc = 0.6, 1.7, 8
    c, m = B ** (1 - a) / ((1 - a) ** (1 - a) * a**a), comb(K, 2)
    R_ = (c * m / (EPS * phi)) ** ((2 - a) / a)
    M = max(log(K / DELTA), vc * log(c * vc / phi ** (3 - 2 * a) * R_))
    problem = {"n_items": K, "vc_dimension": vc, "a": a, "B": B, "tolerance": phi}
    rows = pairwise_rows(EPS, DELTA, **problem)
    assert rows == pytest.approx(c / (phi ** (4 - 2 * a) * m) * R_ * M)
    assert pairwise_rows(EPS, DELTA, **problem, each_pair=True) == pytest.approx(m * rows)


def test_powers_of_theorem_2_5():
    """Labels enter as printed, k^(4 (1 - a) / a), up to logarithms; with each pair, k^(2 (2 - a) / a)."""
    a = 0.7
    for each_pair, power in ((False, 4 * (1 - a) / a), (True, 2 * (2 - a) / a)):
        few, many = (
            pairwise_rows(0.1, 0.01, n_items=k, vc_dimension=3, a=a, B=1.0, each_pair=each_pair) for k in (10**5, 10**6)
        )
        assert log(many / few, 10) == pytest.approx(power, abs=0.15)
    few, many = (pairwise_error(n, 0.01, n_items=5, vc_dimension=3, a=a, B=1.0) for n in (1e20, 1e22))
    assert log(few / many, 100) == pytest.approx(a / (2 - a), abs=0.02)


def test_the_error_of_so_many_rows_is_reached():
    """Rows for each pair, with a generous constant, keep the error of the claims behind the theorem."""
    problem = {"n_items": 5, "vc_dimension": 6, "a": 0.8, "B": 1.2, "tolerance": 0.5}
    rows = pairwise_rows(0.1, 0.05, **problem, each_pair=True, constant=1e4)
    assert pairwise_error(rows, 0.05, **problem) < 0.1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tree_rows(0, 0.1, **PROBLEM), "eps is 0, but must be above 0"),
        (lambda: tree_rows(0.1, 1.0, **PROBLEM), "delta is 1.0"),
        (lambda: tree_rows(0.1, 0.1, **PROBLEM, C=0.5), "C is 0.5"),
        (lambda: tree_rows(0.1, 0.1, **PROBLEM, growth="depth"), "growth is 'depth'"),
        (lambda: tree_rows(0.1, 0.1, n_features=2, n_items=3, sparsity=4), "sparsity is 4"),
        (lambda: tree_error(0, 0.1, **PROBLEM), "n_samples is 0"),
        (lambda: forest_rows(0.1, 0.1, **PROBLEM, beta=0.0, zeta=1.0), "beta is 0.0"),
        (lambda: pairwise_rows(0.1, 0.1, n_items=3, vc_dimension=2, a=1.0, B=1.0), "a is 1.0"),
        (lambda: pairwise_rows(0.1, 0.1, n_items=3, vc_dimension=2, a=0.5, B=1.0, tolerance=0), "tolerance is 0"),
    ],
)
def test_impossible_problems_are_refused(call, error):
    with pytest.raises(ValueError, match=error):
        call()


def test_an_infinite_constant_needs_infinitely_many_rows():
    size = tree_rows(0.1, 0.1, **PROBLEM, C=float("inf"))
    assert size.n_samples == size.depth == float("inf")
