"""SymbolicFeatures, the transformer that generates expressions of the inputs layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from rankwise._sklearn import BaseEstimator, Interval, StrOptions, TransformerMixin, check_feature_names_in
from rankwise._state import COUNT, INTS, Saved, instance
from rankwise._typing import ArrayLike, FloatArray
from rankwise._validation import check_whole_number
from rankwise.screening.base import refuse_non_numeric
from rankwise.screening.pools import ExpressionPool, Grammar


class SymbolicFeatures(TransformerMixin, BaseEstimator):
    r"""Generates expressions of the inputs by layers of unary and binary operators.

    A layer "u" applies each unary operator to each expression of the pool, a layer "b" each binary operator to each two
    (also a + a and a * a; a - b, b - a, a / b and b / a). Expressions that are constant or not finite on the training
    rows (the logarithm of a number that is not positive, a division by 0) are dropped, and functions that agree on them
    are held once, by the expression found first.

    Parameters
    ----------
    architecture : str, default="bu"
        A letter per layer, the first layer first. "bu" is :math:`O_{Au}` of the paper, binary operators first, and "ub"
        :math:`O_{Ab}`: 24 and 42 features of three inputs with the default operators.
    unary : sequence of str, default=("id", "cube")
        Of "id", "square", "cube", "sqrt", "cbrt", "inverse", "exp", "log", "sin", "cos", "abs".
    binary : sequence of str, default=("+", "*")
        Of "+", "-", "*", "/", ``"|-|"`` (the absolute difference).
    pool : {"strict", "cumulative"}, default="strict"
        Whether a layer works on, and the result consists of, only the last layer, as in the paper, or all so far.
    units : array-like of shape (n_inputs, n_base_units), optional
        Exponents of the physical units of the inputs, whole numbers. Then only expressions that make sense are
        generated: sums of equal units, and exp, log, sin, cos of dimensionless numbers.
    max_bytes : int, default=2**31
        Layers that may need more memory, including error bounds and tables, are refused before they are generated. A
        layer that is only screened does not have to be stored: see `ConcordanceSelector`.

    Attributes
    ----------
    complexity_ : ndarray of shape (n_features_out,)
        Number of operators in each expression.
    n_features_in_ : int
        Number of inputs.

    Notes
    -----
    On new rows outside the domain of an operator the feature is NaN.

    Every value has a bound of its rounding error, which counts cancelled digits. Values of a feature that differ by no
    more than their bounds are made equal, so that 0.1 + 0.2 and 0.3 are tied; and features that differ by no more, and
    have the same units, are the same function.

    References
    ----------
    Luo, Li (2024), Ranking perspective for tree-based methods with applications to symbolic feature selection, section
    6.1. Ye, Senftle, Li (2024), Operator-induced structural variable selection.

    Examples
    --------
    >>> from rankwise.screening import SymbolicFeatures
    >>> features = SymbolicFeatures("bu").fit([[1.0, 2.0], [2.0, 5.0], [3.0, 4.0]])
    >>> features.get_feature_names_out()[:4].tolist()
    ['2*x0', 'x0 + x1', '2*x1', 'x0^2']
    >>> features.transform([[1.0, 3.0]])[:, :4]
    array([[2., 4., 6., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "architecture": [str],
        "unary": ["array-like", str],
        "binary": ["array-like", str],
        "pool": [StrOptions({"strict", "cumulative"})],
        "units": [None, "array-like"],
        "max_bytes": [Interval(Integral, 1, None, closed="left")],
    }

    n_features_in_: int

    _saved: ClassVar[Saved] = {
        "n_features_in_": COUNT,
        "table_": instance("ExpressionTable"),
        "_rows": INTS,
        "complexity_": INTS,
    }

    def __init__(
        self,
        architecture: str = "bu",
        *,
        unary: Sequence[str] = ("id", "cube"),
        binary: Sequence[str] = ("+", "*"),
        pool: Literal["strict", "cumulative"] = "strict",
        units: ArrayLike | None = None,
        max_bytes: int = 2**31,
    ) -> None:
        self.architecture = architecture
        self.unary = unary
        self.binary = binary
        self.pool = pool
        self.units = units
        self.max_bytes = max_bytes

    def fit(self, X: ArrayLike, y: Any = None) -> SymbolicFeatures:
        """Generate the expressions that are finite and not constant on X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs, finite.
        y : None
            Ignored.

        Returns
        -------
        SymbolicFeatures
            The transformer itself.
        """
        from sklearn.utils.validation import validate_data

        refuse_non_numeric("X", X)
        columns = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)  # in one row everything is constant
        pool = self.start(columns, getattr(self, "feature_names_in_", None))
        for layer in range(len(self.architecture)):
            pool.grow(layer)
        if not len(pool.members):
            raise ValueError(nothing_usable(self.architecture))
        self.table_, self._rows = pool.table, pool.members
        self.complexity_ = self.table_.complexity[self._rows]
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """Values of the expressions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            One column per expression; NaN outside the domain of an operator.
        """
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        return self.table_.evaluate(validate_data(self, X, reset=False, dtype=np.float64), self._rows)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """The expressions as formulas.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the inputs; by default those of ``fit``, else x0, x1, ...

        Returns
        -------
        ndarray of str
            One formula per feature.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return np.array(self.table_.formulas(self._rows, check_feature_names_in(self, input_features)), dtype=object)

    def to_sympy(self) -> list[Any]:
        """The expressions as SymPy objects; needs SymPy."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.table_.to_sympy(self._rows, "SymbolicFeatures.to_sympy")

    def count(self, n_inputs: int) -> list[int]:
        """Most expressions that each layer can make, before anything is generated.

        Parameters
        ----------
        n_inputs : int
            Number of inputs.

        Returns
        -------
        list of int
            One number per layer.
        """
        grammar = self._grammar()
        sizes, members = [], check_whole_number("n_inputs", n_inputs, at_least=1)
        for letter in grammar.architecture:
            sizes.append(grammar.count(letter, members))
            members = sizes[-1] + grammar.cumulative * members
        return sizes

    def start(self, X: FloatArray, names: Sequence[str] | None) -> ExpressionPool:
        """A pool of the inputs, to which layers can be added; `ConcordanceSelector` starts from it, too."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimension(s), but needs two: a row each, and a column per input")
        if names is None:
            names = [f"x{i}" for i in range(X.shape[1])]
        return ExpressionPool(X, names, self._grammar(), self.units, self.max_bytes)

    def _grammar(self) -> Grammar:
        self._validate_params()
        return Grammar.checked(self.architecture, self.unary, self.binary, self.pool)

    def _check_saved(self) -> None:
        self.table_.check_rows(self._rows, self.n_features_in_)


def nothing_usable(architecture: str) -> str:
    """The error message if no expression is left."""
    return (
        f"no expression of {architecture!r} is finite and not constant on X; use other operators, or drop rows with "
        "zeros or negative values, which some operators cannot take"
    )
