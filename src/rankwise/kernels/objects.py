"""The kernels as scikit-learn kernel objects, for Gaussian processes and every estimator that takes a kernel."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_real_number, check_whole_number
from rankwise.distances.measures import check_same_items
from rankwise.embeddings.item_graphs import GraphKernel, Lengthscale, item_graph, median_distance
from rankwise.kernels.gram import (
    MAX_BYTES,
    Gram,
    check_gram,
    check_norms,
    checked_rankings,
    named_rankings,
    positions_from_finite,
)
from rankwise.kernels.graph_cut_gram import fitted_embedding, graph_cut_kernel, squared_lengths
from rankwise.kernels.kendall_gram import Combine, kendall_diagonal, kendall_kernel
from rankwise.kernels.mallows_gram import (
    MallowsCompletion,
    check_completion,
    completed_diagonal,
    completed_means,
    completion_seed,
    embedding_exponents,
)

_FLOAT64 = np.dtype(np.float64)
# Of the logarithm of the lengthscale, for central differences: errors of about 1e-10.
_STEP = 1e-5


class _RankingKernel(Kernel):  # type: ignore[misc]
    """What the objects share: they take positions, are not stationary, and compare by their parameters."""

    def is_stationary(self) -> bool:
        """Whether the kernel depends only on differences of coordinates: False for rankings."""
        return False

    def __eq__(self, other: object) -> bool:
        # The base class compares parameters by np.any(a != b), which fails for sparse arrays and different shapes.
        if type(self) is not type(other):
            return False
        own, others = self.get_params(), other.get_params()
        return all(np.array_equal(_dense(own[name]), _dense(others[name])) for name in own)

    @staticmethod
    def _positions(X: ArrayLike, Y: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        check_same_items(X, Y)
        a = positions_from_finite(X, "X")
        return checked_rankings(a, None if Y is None else positions_from_finite(Y, "Y"))

    def _settings(self) -> dict[str, Any]:
        """Arguments of the function that computes the Gram matrix."""
        settings: dict[str, Any] = self.get_params()
        settings["normalize"] |= settings.pop("nonnegative")
        return settings

    @staticmethod
    def _without_parameters(gram: Gram, Y: ArrayLike | None, eval_gradient: bool) -> Any:
        """The return value of a kernel without hyperparameters."""
        if not eval_gradient:
            return gram
        _refuse_gradient(Y)
        return gram, np.empty((*gram.shape, 0))


class KendallKernel(_RankingKernel):
    """The Kendall kernel as a scikit-learn kernel object; see `kendall_kernel` for its definition.

    X holds positions (1 = best); use `finite_positions` for estimators that refuse NaN and infinity. The kernel has no
    hyperparameters; ``ConstantKernel() * KendallKernel()`` has a variance to learn.

    Parameters
    ----------
    position_weights, combine, normalize
        As in `kendall_kernel`.
    nonnegative : bool, default=False
        Normalize, and take (1 + value) / 2, from 0 for opposite rankings to 1 for equal ones; still positive
        semi-definite. For SpectralClustering, which takes no negative values.

    Examples
    --------
    >>> from rankwise.kernels import KendallKernel
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> model = GaussianProcessRegressor(KendallKernel(), alpha=0.1).fit([[1, 2, 3], [3, 2, 1]], [1.0, -1.0])
    >>> model.predict([[1, 3, 2]]).round(2)
    array([0.32])
    """

    def __init__(
        self,
        position_weights: ArrayLike | Literal["average"] | None = None,
        combine: Combine = "additive",
        normalize: bool = False,
        nonnegative: bool = False,
    ) -> None:
        self.position_weights = position_weights
        self.combine = combine
        self.normalize = normalize
        self.nonnegative = nonnegative

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Kernel values of all rankings of X with all rankings of Y (by default X), and their gradient on request."""
        a, b = self._positions(X, Y)
        gram = kendall_kernel(a, None if a is b else b, **self._settings())
        if self.nonnegative:
            _shift_to_nonnegative(gram)
        return self._without_parameters(gram, Y, eval_gradient)

    def diag(self, X: ArrayLike) -> FloatArray:
        """Kernel of each ranking with itself."""
        return kendall_diagonal(self._positions(X, None)[0], **self._settings())


class MallowsKernel(_RankingKernel):
    """The Mallows kernel as a scikit-learn kernel object; see `mallows_kernel` for its definition.

    X holds positions (1 = best); use `finite_positions` for estimators that refuse NaN and infinity.

    Parameters
    ----------
    scale : float, default=1.0
        How fast the kernel falls with the number of discordant pairs; learned by Gaussian processes. There are
        k (k - 1) / 2 pairs, so the more items, the smaller a good scale.
    scale_bounds : pair of float or "fixed", default=(1e-5, 1e5)
        Bounds of the scale.
    completion : {"embedding", "monte-carlo"}, default="embedding"
        As in `mallows_kernel`.
    n_samples : int, default=32
        Completions of each ranking for "monte-carlo".
    random_state : int, default=0
        Draws the completions. An integer, as a kernel must return the same values in every call.

    Examples
    --------
    >>> from rankwise.kernels import MallowsKernel
    >>> from sklearn.svm import SVC
    >>> SVC(kernel=MallowsKernel(0.5)).fit([[1, 2, 3], [3, 2, 1]], ["up", "down"]).predict([[1, 3, 2]])
    array(['up'], dtype='<U4')
    """

    def __init__(
        self,
        scale: float = 1.0,
        scale_bounds: tuple[float, float] | Literal["fixed"] = (1e-5, 1e5),
        completion: MallowsCompletion = "embedding",
        n_samples: int = 32,
        random_state: int = 0,
    ) -> None:
        self.scale = scale
        self.scale_bounds = scale_bounds
        self.completion = completion
        self.n_samples = n_samples
        self.random_state = random_state

    def __repr__(self) -> str:
        # The base class would show the logarithm of the scale.
        return f"MallowsKernel(scale={self.scale:.3g})"

    @property
    def hyperparameter_scale(self) -> Any:
        """The scale, as a hyperparameter."""
        return Hyperparameter("scale", "numeric", self.scale_bounds)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Kernel values of all rankings of X with all rankings of Y (by default X), and their gradient on request."""
        self._check()
        if eval_gradient:
            _refuse_gradient(Y)
        learned = eval_gradient and not self.hyperparameter_scale.fixed
        a, b = self._positions(X, Y)
        check_gram(len(a), len(b), _FLOAT64, MAX_BYTES)
        gram, gradient = self._values(a, b, learned)
        if learned:
            return gram, gradient[:, :, np.newaxis]
        return self._without_parameters(gram, Y, eval_gradient)

    def diag(self, X: ArrayLike) -> FloatArray:
        """Kernel of each ranking with itself."""
        self._check()
        a, _ = self._positions(X, None)
        if self.completion == "embedding":
            return np.ones(len(a))
        return completed_diagonal(a, self.scale, self.n_samples, completion_seed(self.random_state))

    def _values(self, a: FloatArray, b: FloatArray, derive: bool) -> tuple[Any, Any]:
        """Values, and their gradient by the logarithm of the scale."""
        if self.completion == "monte-carlo":
            seed = completion_seed(self.random_state)
            return completed_means(a, b, self.scale, self.n_samples, seed, False, _FLOAT64, gradient=derive)
        exponent = embedding_exponents(a, b, self.scale, _FLOAT64)
        gram = np.exp(exponent)
        return gram, exponent * gram if derive else None

    def _check(self) -> None:
        check_real_number("scale", self.scale)
        check_completion(self.completion, self.n_samples)
        check_whole_number("random_state", self.random_state, at_least=0)


class GraphCutKernel(_RankingKernel):
    """The graph cut kernel as a scikit-learn kernel object; see `graph_cut_kernel` for its definition.

    X holds positions (1 = best); use `finite_positions` for estimators that refuse NaN and infinity.
    ``ConstantKernel() * GraphCutKernel() + ConstantKernel()`` has a variance and a constant to learn; with ``features``
    and a number for ``lengthscale``, Gaussian processes learn the lengthscale of the item graph too.

    Parameters
    ----------
    graph, features, pooling, completion, n_samples, allow_isolated
        As in `GraphCutEmbedding`.
    random_state : int, default=0
        Draws completions where items are missing. An integer, as a kernel must return the same values in every call.
    normalize : bool, default=False
        Scale the values so that every ranking has kernel 1 with itself.
    nonnegative : bool, default=False
        As in `KendallKernel`: values from 0 to 1, for SpectralClustering.
    graph_kernel : {"laplace", "rbf"}, default="laplace"
        Weights of the graph of ``features``, as in `item_graph`.
    lengthscale : {"median", "median-with-diagonal"} or float, default="median"
        Of that graph, as in `item_graph`; a number is where learning starts.
    lengthscale_bounds : pair of float or "fixed", optional
        Bounds of a lengthscale that is a number: by default from a tenth of the median distance between two items to
        ten times that distance; "fixed" does not learn it.

    Notes
    -----
    The gradient by the lengthscale is that of the features of rankings, by central differences: features are
    continuous in the weights and linear where pooling joins the same items.

    Examples
    --------
    >>> from rankwise.kernels import GraphCutKernel
    >>> from sklearn.svm import SVC
    >>> SVC(kernel=GraphCutKernel()).fit([[1, 2, 3], [3, 2, 1]], ["up", "down"]).predict([[1, 3, 2]])
    array(['up'], dtype='<U4')
    """

    def __init__(
        self,
        graph: ArrayLike | None = None,
        features: ArrayLike | None = None,
        pooling: str = "pava",
        completion: str = "auto",
        n_samples: int = 128,
        random_state: int = 0,
        normalize: bool = False,
        nonnegative: bool = False,
        graph_kernel: GraphKernel = "laplace",
        lengthscale: Lengthscale = "median",
        lengthscale_bounds: tuple[float, float] | Literal["fixed"] | None = None,
        allow_isolated: bool = False,
    ) -> None:
        self.graph = graph
        self.features = features
        self.pooling = pooling
        self.completion = completion
        self.n_samples = n_samples
        self.random_state = random_state
        self.normalize = normalize
        self.nonnegative = nonnegative
        self.graph_kernel = graph_kernel
        self.lengthscale = lengthscale
        self.lengthscale_bounds = lengthscale_bounds
        self.allow_isolated = allow_isolated

    def __repr__(self) -> str:
        # The base class would show the logarithm of the lengthscale.
        return f"GraphCutKernel(lengthscale={self.lengthscale:.3g})" if self._learns else "GraphCutKernel()"

    @property
    def _learns(self) -> bool:
        return (
            self.features is not None and not isinstance(self.lengthscale, str) and self.lengthscale_bounds != "fixed"
        )

    @property
    def hyperparameter_lengthscale(self) -> Any:
        """The lengthscale of the item graph, as a hyperparameter."""
        bounds: Any = self.lengthscale_bounds
        if not self._learns:
            bounds = "fixed"
        elif bounds is None:
            median = median_distance(self.features)
            bounds = (median / 10, median * 10)
        return Hyperparameter("lengthscale", "numeric", bounds)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Kernel values of all rankings of X with all rankings of Y (by default X), and their gradient on request."""
        self._check()
        if eval_gradient:
            _refuse_gradient(Y)
        a, b = self._positions(X, Y)
        gram = graph_cut_kernel(named_rankings(a, X), None if a is b else b, **self._settings())
        if self.nonnegative:
            _shift_to_nonnegative(gram)
        if eval_gradient and self._learns:
            return gram, self._gradient(a, X)[:, :, np.newaxis]
        return self._without_parameters(gram, Y, eval_gradient)

    def diag(self, X: ArrayLike) -> FloatArray:
        """Kernel of each ranking with itself."""
        self._check()
        a, _ = self._positions(X, None)
        own = squared_lengths(self._vectors(a, X, **self._settings()))
        if self.normalize or self.nonnegative:
            check_norms("A", own)
            return np.ones(len(a))
        return own

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        lengthscale, kernel = settings.pop("lengthscale"), settings.pop("graph_kernel")
        del settings["lengthscale_bounds"]
        if self.features is not None and self.graph is None:
            settings |= {"graph": item_graph(self.features, kernel, lengthscale), "features": None}
        return settings

    @staticmethod
    def _vectors(a: FloatArray, source: ArrayLike, normalize: bool, **settings: Any) -> FloatArray:
        vectors: FloatArray = fitted_embedding(named_rankings(a[:1], source), **settings).transform(a)
        return vectors

    def _gradient(self, a: FloatArray, source: ArrayLike) -> FloatArray:
        """Gradient of the values by the logarithm of the lengthscale."""
        settings = self._settings()
        vectors = []
        for step in (-_STEP, 0.0, _STEP):
            graph = item_graph(self.features, self.graph_kernel, float(self.lengthscale) * np.exp(step))
            x = self._vectors(a, source, **(settings | {"graph": graph}))
            vectors.append(x / np.sqrt(squared_lengths(x))[:, np.newaxis] if settings["normalize"] else x)
        before, x, after = vectors
        half = x @ ((after - before) / (2 * _STEP)).T
        return (half + half.T) / (2 if self.nonnegative else 1)

    def _check(self) -> None:
        check_whole_number("random_state", self.random_state, at_least=0)
        if self.graph is not None and self.features is not None:
            raise ValueError("graph and features are both given; take one, or graph=item_graph(features)")


def _refuse_gradient(Y: ArrayLike | None) -> None:
    if Y is not None:
        raise ValueError("Gradient can only be evaluated when Y is None; drop Y or eval_gradient")


def _shift_to_nonnegative(gram: Gram) -> None:
    """Map cosines to [0, 1], in place; the matrix stays positive semi-definite when a constant is added."""
    gram += 1
    gram /= 2
    np.clip(gram, 0, 1, out=gram)  # rounding errors of cosines


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else value
