"""ConcordanceSelector: selects features by concordant divergence, from given columns or a stream of expressions.

`fit` prepares a pool (the columns, or all layers of expressions but the last), and `_Rounds` screens it: once, or once
per term of a linear model, each time for the residual of the best model so far.
"""

from __future__ import annotations

import time
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import N_JOBS, BaseEstimator, Interval, check_feature_names_in
from rankwise._state import BOOL, COUNT, INTS, Kind, Saved, dict_of, instance, list_of
from rankwise._typing import ArrayLike, BoolArray, FloatArray, IntArray
from rankwise.screening.base import TargetSelectorMixin
from rankwise.screening.concordance import Target, benjamini_hochberg, tail_probability
from rankwise.screening.distinct import DistinctRows
from rankwise.screening.features import SymbolicFeatures, nothing_usable
from rankwise.screening.pools import BYTES_PER_EXPRESSION, ExpressionPool, Grammar
from rankwise.screening.streams import Screened, screen
from rankwise.screening.subsets import SubsetModel, best_subset, refuse_too_many_subsets

# Values that a core evaluates and sorts in an hour (measured: 2.7e8 in a second), and the fixed cost of an expression
# in values; so many are refused, and of so many the time is said.
_CELLS_PER_HOUR, _CELLS_PER_EXPRESSION = 10**12, 100
_MOST_CELLS, _MANY_CELLS = 10**13, 10**11
# Bytes of a candidate while the best ones are sorted and copied.
_BYTES_PER_CANDIDATE = 300


class ConcordanceSelector(TargetSelectorMixin, BaseEstimator):
    r"""Selects the features that order the target best.

    Features are scored by `concordant_divergence`. Those with the same order of the rows, up to sign, are one class
    (`rank_classes`), of which only the best member can be selected: the simplest, then the one with the highest Pearson
    correlation; with ``n_terms``, the one with the highest correlation, because a linear model is fitted to it.
    Otherwise the best three features are often three copies of one variable.

    Parameters
    ----------
    k : int, optional, default=10
        Most features to select (with ``n_terms``, in each round); None for no limit, only without ``features``.
    two_sided : bool, default=True
        Count the reverse order as a relation, as a linear model does, which chooses the sign itself. The paper's
        divergence is signed.
    dedupe : bool, default=True
        Select one feature per rank class.
    alpha : float, optional
        Select only features whose p-value, after Benjamini and Hochberg, is at most alpha (see `concordance_test`).
    features : SymbolicFeatures, optional
        Screen the expressions that it generates, instead of the columns of X. The last layer is not stored: its
        expressions are evaluated, scored and forgotten in blocks.
    k_per_layer : int, optional
        Pass only the best k_per_layer expressions of each layer on to the next (grow, screen, grow); by default all.
        Deep architectures become possible, but laws whose parts do not order the target are missed. Copies within a
        rank class are passed on, because their sums and products differ; a cumulative pool keeps its inputs besides.
    n_terms : int, optional
        Fit a linear model with this many terms, in as many rounds: each round selects k features for what the best
        model so far leaves unexplained, and then the best subset of all of them is found. The terms of the last model
        are the selected features. With ``alpha``, the rounds end when too few features are significant.
    time_limit : float, optional
        Seconds after which generating and screening stop; a warning says how far they came. The first block of each
        layer, about a tenth of a second of work, is always completed, and the search for the best subset is not cut
        short. A last layer that would take more than about a day, :math:`10^{10}` expressions of 1,000 rows, needs a
        limit.
    max_bytes : int, default=2**31
        If the best ``k`` candidates, and with ``n_terms`` their values, may need more memory, they are refused before
        anything is screened. ``features`` has its own limit for the layers before the last.
    n_jobs : int, optional
        Threads; the result is the same for every number.

    Attributes
    ----------
    table_ : dict of str to ndarray
        One row per feature that a round selected, best first: "feature" (its formula), "divergence", "z", "p_value",
        "adjusted", "complexity", "round". A data frame of it is ``pandas.DataFrame(selector.table_)``.
    models_ : list of SubsetModel
        With ``n_terms``, the best models of 1, 2, ... terms; their columns are rows of ``table_``.
    n_candidates_, n_usable_ : int
        Number of features screened in each round, and of those among them that are finite and not constant.
    complete_ : bool
        False if time ran out.
    n_features_in_ : int
        Number of columns of X.

    Notes
    -----
    With ``features``, ``get_support`` says which inputs the selected expressions use, values that differ only by
    rounding are tied, and no function is selected twice, even without ``dedupe``. Given columns are used as they are.

    For given columns, p-values are corrected for the number of classes, whatever k is. A stream of expressions knows
    the number of features, but not of classes: its corrections count all usable features, so that adjusted p-values are
    larger than necessary. P-values after the first round take the residual as given, and are too small.

    References
    ----------
    Luo, Li (2024), Ranking perspective for tree-based methods with applications to symbolic feature selection. Ouyang
    et al. (2018), SISSO: a compressed-sensing method for identifying the best low-dimensional descriptor.

    Examples
    --------
    >>> from rankwise.datasets import make_symbolic_regression
    >>> from rankwise.screening import ConcordanceSelector, SymbolicFeatures
    >>> X, y, _ = make_symbolic_regression(noise=0.1, random_state=0)
    >>> selector = ConcordanceSelector(k=5, features=SymbolicFeatures("ub"), n_terms=2).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['x2 + x0^3', '2*x0^3']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [None, Interval(Integral, 1, None, closed="left")],
        "two_sided": ["boolean"],
        "dedupe": ["boolean"],
        "alpha": [None, Interval(Real, 0, 1, closed="right")],
        "features": [None, SymbolicFeatures],
        "k_per_layer": [None, Interval(Integral, 1, None, closed="left")],
        "n_terms": [None, Interval(Integral, 1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="neither")],
        "max_bytes": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": N_JOBS,
    }

    _saved: ClassVar[Saved] = {
        "table_": dict_of(Kind("an array", lambda value: isinstance(value, np.ndarray))),
        "models_": list_of(instance("SubsetModel")),
        "n_candidates_": COUNT,
        "n_usable_": COUNT,
        "complete_": BOOL,
        "_expressions": instance("ExpressionTable"),
        "_rows": INTS,
    }

    def __init__(
        self,
        k: int | None = 10,
        *,
        two_sided: bool = True,
        dedupe: bool = True,
        alpha: float | None = None,
        features: SymbolicFeatures | None = None,
        k_per_layer: int | None = None,
        n_terms: int | None = None,
        time_limit: float | None = None,
        max_bytes: int = 2**31,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.two_sided = two_sided
        self.dedupe = dedupe
        self.alpha = alpha
        self.features = features
        self.k_per_layer = k_per_layer
        self.n_terms = n_terms
        self.time_limit = time_limit
        self.max_bytes = max_bytes
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> ConcordanceSelector:
        """Score, and select.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns, or inputs of expressions.
        y : array-like of shape (n_samples,)
            Target.

        Returns
        -------
        ConcordanceSelector
            The selector itself.
        """
        columns, target = self._check(X, y)
        self._refuse_too_many_terms(columns.shape[1])
        deadline = np.inf if self.time_limit is None else time.monotonic() + self.time_limit
        pool, letter = self._pool(columns, target, deadline)
        rounds = _Rounds(self, pool, letter, deadline)
        rounds.run(target)
        self.table_, self.models_ = rounds.table(), rounds.models
        self.n_candidates_, self.n_usable_ = rounds.n_candidates, rounds.n_usable
        self.complete_ = pool.complete and rounds.complete
        self._expressions = pool.table
        self._rows = rounds.rows if self.n_terms is None else rounds.rows[self.models_[-1].columns]
        if not self.complete_:
            reached = "" if pool.complete else "while layers before the last were generated, and "
            warnings.warn(
                f"the time limit of {self.time_limit} s was reached {reached}after {self.n_candidates_:,} candidates "
                "of a round; the best of them are selected: raise time_limit or generate fewer expressions",
                stacklevel=2,
            )
        return self

    def transform(self, X: ArrayLike) -> FloatArray:
        """The selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns, or inputs of expressions.

        Returns
        -------
        ndarray of shape (n_samples, n_selected)
            Columns in their order in X; expressions best first, NaN outside the domain of an operator.
        """
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        if self.features is None:
            return super().transform(X)
        return self._expressions.evaluate(validate_data(self, X, reset=False, dtype=np.float64), self._rows)

    def inverse_transform(self, X: ArrayLike) -> FloatArray:
        """Fill columns that were not selected with zeros; expressions cannot be turned back into inputs."""
        if self.features is not None:
            raise ValueError("expressions cannot be turned back into the inputs; select from given columns instead")
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the selected columns, or formulas of the selected expressions.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of X; by default those of ``fit``, else x0, x1, ...

        Returns
        -------
        ndarray of str
            One name per feature.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        if self.features is None:
            return super().get_feature_names_out(input_features)
        inputs = check_feature_names_in(self, input_features)
        return np.array(self._expressions.formulas(self._rows, inputs), dtype=object)

    def to_sympy(self) -> list[Any]:
        """The selected features as SymPy objects; needs SymPy."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._expressions.to_sympy(self._rows, "ConcordanceSelector.to_sympy")

    def _get_support_mask(self) -> BoolArray:
        """Which columns of X are selected, or used by the selected expressions."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return np.isin(np.arange(self.n_features_in_), self._expressions.needed(self._rows))

    def _refuse_too_many_terms(self, n_columns: int) -> None:
        """Fail before the first round, not after the last."""
        if self.n_terms is None:
            return
        if self.features is None and self.n_terms > n_columns:
            raise ValueError(f"n_terms is {self.n_terms}, but X has {n_columns} columns; lower n_terms")
        most = n_columns if self.features is None else sum(self.features.count(n_columns)) + n_columns
        if self.k is not None:
            most = min(most, self.k * self.n_terms)
        refuse_too_many_subsets(most, self.n_terms, "lower k or n_terms")

    def _pool(self, X: FloatArray, y: FloatArray, deadline: float) -> tuple[ExpressionPool, str | None]:
        """The pool to select from, and the letter of the layer to be streamed, if any."""
        names = getattr(self, "feature_names_in_", None)
        if self.features is not None:
            if self.k is None:
                raise ValueError("k is None, but expressions are not stored; say how many of them to keep")
            pool = self.features.start(X, names)
            for layer in range(len(pool.grammar.architecture) - 1):
                pool.grow(layer, deadline)
                if self.k_per_layer is not None:
                    self._narrow(pool, Target.of(y))
            self._refuse_endless_or_large_stream(pool)
            return pool, pool.grammar.architecture[-1]
        if self.k_per_layer is not None:
            raise ValueError("k_per_layer is set, but there are no layers; set features, or omit k_per_layer")
        names = [f"x{i}" for i in range(X.shape[1])] if names is None else names
        return ExpressionPool(X, names, Grammar("", [], [], cumulative=True), None, max_bytes=0), None

    def _narrow(self, pool: ExpressionPool, target: Target) -> None:
        """Leave only the best members of a pool to the next layer."""
        _, kept, _ = screen(
            pool, None, target, k=self.k_per_layer, two_sided=self.two_sided, dedupe=False, n_jobs=self.n_jobs
        ).candidates
        if pool.grammar.cumulative:
            kept = np.union1d(kept, pool.members[pool.members < self.n_features_in_])
        pool.members = np.sort(kept)

    def _refuse_endless_or_large_stream(self, pool: ExpressionPool) -> None:
        grammar, n = pool.grammar, pool.rows.values.shape[1]
        count = grammar.count(grammar.architecture[-1], len(pool.members), both_signs=not self.two_sided)
        cells = count * (n + _CELLS_PER_EXPRESSION)
        if cells > _MANY_CELLS and self.time_limit is None:
            message = (
                f"the last layer of {grammar.architecture!r} may have {count:.1e} expressions of {n} rows, which would "
                f"take about {cells / _CELLS_PER_HOUR:,.2g} hours of a core; use fewer operators, inputs or layers, or "
                "set time_limit to screen only a part"
            )
            if cells > _MOST_CELLS:
                raise ValueError(message)
            warnings.warn(message, stacklevel=4)
        # Up to four times k candidates wait; those that are kept have formulas and, for models, values with copies.
        most = min(self.k or count, count + len(pool.members))
        size = most * (4 * _BYTES_PER_CANDIDATE + BYTES_PER_EXPRESSION + 5 * 8 * n * (self.n_terms or 0))
        if size > self.max_bytes:
            raise ValueError(
                f"k is {self.k}, for which up to {size / 2**30:.1f} GiB may be needed; lower k, or raise max_bytes"
            )

    def _check_saved(self) -> None:
        self._expressions.check_rows(self._rows, self.n_features_in_)


class _Rounds:
    """Screens the pool for the target, then for what the best model so far leaves unexplained."""

    def __init__(
        self, selector: ConcordanceSelector, pool: ExpressionPool, letter: str | None, deadline: float
    ) -> None:
        self.selector, self.pool, self.letter, self.deadline = selector, pool, letter, deadline
        self.rows: IntArray = np.empty(0, dtype=np.intp)
        self.distinct = DistinctRows(pool.rows.values.shape[1])
        self.names: set[str] = set()
        self.models: list[SubsetModel] = []
        self.parts: list[dict[str, np.ndarray]] = []
        self.n_candidates = self.n_usable = 0
        self.complete = True

    def run(self, y: FloatArray) -> None:
        residual, values = y, np.empty((0, len(y)))
        for number in range(1, (self.selector.n_terms or 1) + 1):
            target = Target.of(residual)
            kept = self._keep(self._screen(target), target, number)
            if self.selector.n_terms is None:
                return
            values = np.concatenate([values, kept])
            if len(values) < number:
                self._refuse_too_few(len(values), number)
                return
            model = best_subset(values.T, y, number)
            self.models.append(model)
            residual = y - model.intercept - model.coef @ values[model.columns]
            if model.rmse <= 1e-10 * y.std() or not self.complete:
                return  # nothing is left to explain, or time ran out

    def _refuse_too_few(self, n_found: int, number: int) -> None:
        """A model may have fewer terms if no more are significant, or if time ran out; otherwise that is an error."""
        alpha = self.selector.alpha
        if alpha is not None and not self.models:
            raise ValueError(
                f"no feature has a corrected p-value of at most alpha = {alpha}, so there is no model; raise alpha, or "
                "omit it to select the best k whatever their p-values"
            )
        if alpha is None and self.complete:
            raise ValueError(
                f"a model of {number} terms needs as many features, but only {n_found} different ones were selected in "
                f"{number} rounds; raise k or lower n_terms"
            )

    def table(self) -> dict[str, np.ndarray]:
        columns = {name: np.concatenate([part[name] for part in self.parts]) for name in self.parts[0]}
        names = np.array(self.pool.table.formulas(self.rows), dtype=object)
        return {"feature": names, **columns}

    def _screen(self, target: Target) -> Screened:
        selector = self.selector
        found = screen(
            self.pool,
            self.letter,
            target,
            k=None if self.letter is None else selector.k,  # corrections for many columns need all of them
            two_sided=selector.two_sided,
            dedupe=selector.dedupe,
            linear_first=selector.n_terms is not None,
            deadline=self.deadline,
            n_jobs=selector.n_jobs,
        )
        self.n_candidates, self.n_usable = found.n_candidates, found.n_usable
        self.complete &= found.complete
        if not found.n_usable and not self.parts:
            if not (self.complete and self.pool.complete):
                raise ValueError(
                    f"the time limit of {selector.time_limit} s was reached before an expression was found that is "
                    "finite and not constant; raise time_limit or generate fewer expressions"
                )
            if self.letter is None:
                raise ValueError("all columns of X are constant, so none can order y; check the columns")
            raise ValueError(nothing_usable(self.pool.grammar.architecture))
        return found

    def _keep(self, found: Screened, target: Target, number: int) -> FloatArray:
        """Add to the table what a round found and no earlier round had; return its values."""
        selector = self.selector
        z = target.z(found.covariation, found.spread)
        p_value = tail_probability(z, selector.two_sided)
        # All classes of given columns are known; of streams, which keep only the best, all usable features count.
        adjusted = benjamini_hochberg(p_value, len(p_value) if self.letter is None else found.n_usable)
        part = {
            "divergence": target.lost(found.covariation, selector.two_sided) * target.unit,
            "z": z,
            "p_value": p_value,
            "adjusted": adjusted,
            "complexity": found.complexity,
            "round": np.full(len(z), number),
        }
        good = np.arange(len(z))[: selector.k]
        if selector.alpha is not None:
            good = good[adjusted[good] <= selector.alpha]
        rows = self.pool.table.append(*found[good].candidates)
        new, values = self._new(rows, found[good])
        self.rows = np.concatenate([self.rows, rows[new]])
        self.parts.append({name: column[good[new]] for name, column in part.items()})
        return values

    def _new(self, rows: IntArray, found: Screened) -> tuple[BoolArray, FloatArray]:
        """Which expressions no earlier round has found, by name or by values; and, for models, their values."""
        new = np.ones(len(rows), dtype=bool)
        if self.letter is not None:
            names = self.pool.table.identities(rows)
            first = dict(zip(reversed(names), reversed(range(len(names))), strict=True))
            new[:] = [name not in self.names and place == first[name] for place, name in enumerate(names)]
            self.names.update(names)
        if self.selector.n_terms is None:
            return new, np.empty((0, 0))
        values, errors = found.values(self.pool)
        n_before = len(self.distinct)
        self.distinct.reserve(len(rows))
        homes, places = np.unique(self.distinct.add(values, errors), return_index=True)
        new &= np.isin(np.arange(len(rows)), places[homes >= n_before])
        return new, values[new]
