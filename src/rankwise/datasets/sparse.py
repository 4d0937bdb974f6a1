"""Label ranking data with sparse scores: each label depends on a few binary features."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import (
    check_choice,
    check_generator,
    check_numbers,
    check_real_number,
    check_scales,
    check_sizes,
)
from rankwise.data import Rankings
from rankwise.datasets.feature_laws import BinaryFeatures
from rankwise.datasets.mechanisms import Partition, Survival
from rankwise.datasets.noise_laws import MOST_NOISE, GaussianNoise, MallowsNoise, UniformNoise
from rankwise.datasets.oracle import PRESETS, RankingOracle
from rankwise.datasets.score_functions import LinearScores, own_weights
from rankwise.datasets.transforms import sorted_positions
from rankwise.metrics import kendall_tau_score

_DEFAULTS = {"n_features": 100, "n_items": 5, "n_informative": 10}
# A Gaussian this wide, cut off at 1/4, is uniform for every purpose.
_WIDEST_GAUSSIAN = 100.0
_BISECTIONS = 60


def make_sparse_label_ranking(
    n_samples: int = 10_000,
    n_features: int = 100,
    n_items: int = 5,
    n_informative: int = 10,
    *,
    preset: Literal["SFN", "LFN"] | None = None,
    X: ArrayLike | None = None,
    noise: Literal["none", "gaussian", "uniform", "mallows"] = "none",
    noise_scale: float = 0.0,
    theta: float | None = None,
    survival: Survival | None = None,
    partial: Partition | None = None,
    random_state: RandomState = None,
) -> tuple[FloatArray, Rankings, Any]:
    r"""Rank items by noisy scores that depend on a few binary features each.

    *Definition.* x is uniform on :math:`\{0, 1\}^d`. Item i has the score :math:`m_i(x) = a_i + b_i \langle w_i,
    x \rangle`, where :math:`w_i` has at most r entries other than 0 (r times, a coordinate is drawn with
    replacement and its weight set to 100 U(0, 1)) and :math:`a_i, b_i` scale the scores of the sample to [1/4,
    3/4]. Items are sorted by *decreasing* :math:`m_i(x) + \xi_i`: the highest score has position 1.

    Parameters
    ----------
    n_samples, n_features, n_items, n_informative : int
        n, d, k and r.
    preset : {"SFN", "LFN"}, optional
        The families of the paper: d = 100 ("SFN") or d = 1000 ("LFN"), k = 5 and r = 10, so omit ``n_features``,
        ``n_items``, ``n_informative`` and ``X``. The paper's n = 10,000 is the default of ``n_samples``, which
        may be given, for smaller samples of the same law. The files that the authors distribute are of another design,
        ``RankingOracle.sparse(preset=preset, design="shared")``.
    X : array-like of shape (n, d), optional
        Features to use instead of random bits; they also say n and d.
    noise : {"none", "gaussian", "uniform", "mallows"}, default="none"
        Noise on the scores, independent over items: Gaussian with standard deviation ``noise_scale``, truncated
        to [-1/4, 1/4], or uniform on [-noise_scale, noise_scale]; or Mallows noise on the positions.
    noise_scale : float, default=0.0
        See ``noise``; `noise_scale_for` finds the value for a wanted share of changed rankings.
    theta : float, optional
        Concentration of the Mallows noise: larger is less noise.
    survival : float, array-like or callable, optional
        Probability that an item is observed, see `make_incomplete`.
    partial : sequence of int, "random" or callable, optional
        Blocks of places that tie, see `make_partial`; done before items drop out.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from. The same seed gives the same X and scores whatever the noise.

    Returns
    -------
    X : ndarray of shape (n, d), float64
    y : Rankings
        Observed rankings of the k items.
    bunch : Bunch
        ``noiseless`` (Rankings by m(x) alone; equal scores in item order), ``complete`` (Rankings with noise,
        before ``partial`` and ``survival``), ``scores`` (n, k), ``noisy_scores`` (n, k; None for Mallows noise),
        ``alpha`` (share of rows where complete differs from noiseless), ``beta`` (mean Kendall tau of the two),
        ``informative`` (for each item, the features with weight), ``oracle`` (a `RankingOracle`: fresh rows of the
        same m, and all that is known of the law).

    References
    ----------
    Fotakis, Kalavasis, Psaroudaki (2022), Label ranking through nonparametric regression.

    Examples
    --------
    >>> from rankwise.datasets import make_sparse_label_ranking
    >>> X, y, bunch = make_sparse_label_ranking(100, noise="mallows", theta=2, random_state=0)
    >>> X.shape, y.shape
    ((100, 100), (100, 5))
    """
    from sklearn.utils import check_array

    _check_noise(noise, noise_scale, theta)
    if preset is not None:
        n_features = _preset_features(preset, X, n_features=n_features, n_items=n_items, n_informative=n_informative)
    rng = check_generator(random_state)
    if X is None:
        check_sizes(n_samples=n_samples)
        features = BinaryFeatures(n_features).sample(n_samples, rng)
    else:
        features = check_array(X, dtype=np.float64)
    m = LinearScores.over_rows(own_weights(features.shape[1], n_items, n_informative, rng), features)
    law = MallowsNoise(theta) if noise == "mallows" else _score_noise(noise, noise_scale)  # type: ignore[arg-type]
    oracle = RankingOracle(m, law, survival=survival, partition=partial)
    scores, noiseless = oracle.scores(features), oracle.ranking(features)
    drawn = oracle.draw(features, rng)

    from sklearn.utils import Bunch

    bunch = Bunch(
        noiseless=Rankings(noiseless),
        complete=Rankings(drawn.complete),
        scores=scores,
        noisy_scores=drawn.noisy_scores,
        alpha=_share_changed(noiseless, drawn.complete),
        beta=kendall_tau_score(noiseless, drawn.complete),
        informative=m.informative,
        oracle=oracle,
    )
    return features, drawn.observed, bunch


def noise_scale_for(
    alpha: float,
    scores: ArrayLike,
    *,
    noise: Literal["gaussian", "uniform"] = "gaussian",
    random_state: RandomState = None,
) -> float:
    """Find the scale at which noise changes a wanted share of the rankings.

    Parameters
    ----------
    alpha : float
        Wanted share of rows whose ranking differs from the noiseless one, 0 to less than 1.
    scores : array-like of shape (n, k)
        Noiseless scores, as in ``bunch.scores`` of `make_sparse_label_ranking`.
    noise : {"gaussian", "uniform"}, default="gaussian"
        The kind of noise, see `make_sparse_label_ranking`.
    random_state : None, int, Generator or RandomState
        Where the random numbers come from; the same ones serve every scale that is tried.

    Returns
    -------
    float
        The ``noise_scale``; on these numbers it gives alpha up to one row, on fresh ones up to chance.

    Examples
    --------
    >>> from rankwise.datasets import make_sparse_label_ranking, noise_scale_for
    >>> _, _, clean = make_sparse_label_ranking(1000, random_state=0)
    >>> scale = noise_scale_for(0.5, clean.scores, random_state=1)
    >>> _, _, noisy = make_sparse_label_ranking(1000, noise="gaussian", noise_scale=scale, random_state=0)
    >>> bool(abs(noisy.alpha - 0.5) < 0.05)
    True
    """
    check_choice("noise", noise, ("gaussian", "uniform"))
    if check_real_number("alpha", alpha) >= 1:
        raise ValueError(f"alpha is {alpha}, but a share of changed rankings lies between 0 and 1")
    matrix = _check_scores(scores)
    uniforms = check_generator(random_state).random(matrix.shape)
    noiseless = sorted_positions(matrix)

    def share(scale: float) -> float:
        return _share_changed(noiseless, sorted_positions(matrix + _score_noise(noise, scale).values(uniforms)))

    low, high = 0.0, _WIDEST_GAUSSIAN if noise == "gaussian" else MOST_NOISE
    most = share(high)
    if alpha > most:
        raise ValueError(
            f"alpha = {alpha} cannot be reached: noise of at most 1/4 changes {most:.3f} of these rankings; "
            "choose a smaller alpha, or scores that lie closer together"
        )
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if share(middle) < alpha:
            low = middle
        else:
            high = middle
    return high if alpha > 0 else 0.0


def _check_noise(noise: str, noise_scale: float, theta: float | None) -> None:
    check_choice("noise", noise, ("none", "gaussian", "uniform", "mallows"))
    if (noise == "mallows") != (theta is not None):
        raise ValueError(f"noise is {noise!r} and theta is {theta}; theta belongs to noise='mallows', and only there")
    check_scales(noise_scale=noise_scale)
    if noise in ("none", "mallows") and noise_scale != 0:
        raise ValueError(f"noise_scale is {noise_scale}, but noise={noise!r} does not use it; omit it")
    if noise == "uniform" and noise_scale > MOST_NOISE:
        raise ValueError(f"noise_scale is {noise_scale}, but uniform noise reaches 1/4 at most")


def _preset_features(preset: str, X: ArrayLike | None, **sizes: int) -> int:
    """Number of features of the preset; what contradicts it is refused."""
    check_choice("preset", preset, tuple(PRESETS))
    fixed = {**_DEFAULTS, "n_features": PRESETS[preset]}
    mixed = [f"{name}={size!r}" for name, size in sizes.items() if size not in (_DEFAULTS[name], fixed[name])]
    mixed += [] if X is None else ["X"]
    if mixed:
        values = ", ".join(f"{name}={value}" for name, value in fixed.items())
        raise ValueError(
            f"preset={preset!r} fixes {values} and draws its own features; omit {' and '.join(mixed)}, "
            "or the preset (n_samples may be given with it)"
        )
    return fixed["n_features"]


def _check_scores(scores: ArrayLike) -> FloatArray:
    matrix = check_numbers("scores", scores)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"scores has shape {matrix.shape}; give one row per sample and one column per item")
    if not np.isfinite(matrix).all():
        row, item = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"scores[{row}, {item}] is {matrix[row, item]}, but noiseless scores are finite")
    return matrix


def _score_noise(noise: str, scale: float) -> GaussianNoise | UniformNoise:
    """Noise on the scores, at most 1/4; none is noise of scale 0."""
    return UniformNoise(scale) if noise == "uniform" else GaussianNoise(scale, MOST_NOISE)


def _share_changed(before: FloatArray, after: FloatArray) -> float:
    return float(np.mean(np.any(before != after, axis=1)))
