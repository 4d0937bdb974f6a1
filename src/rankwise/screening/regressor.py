"""SymbolicRegressor: finds a formula for a target, with no grammar to choose."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rankwise._sklearn import N_JOBS, BaseEstimator, Interval, RegressorMixin
from rankwise._state import COUNT, NUMBER, STRING, Saved, instance, list_of, tuple_of
from rankwise._tables import counted
from rankwise._typing import ArrayLike, FloatArray, RandomState
from rankwise._validation import check_generator, check_weights
from rankwise.screening.base import check_table, check_target
from rankwise.screening.choices import final_formulas, formula_of
from rankwise.screening.formulas import FormulaSummary, SymbolicFormula, notes_on, renamed_notes
from rankwise.screening.pools import ExpressionPool, Grammar
from rankwise.screening.search import Search


class SymbolicRegressor(RegressorMixin, BaseEstimator):
    r"""Finds a formula for a target.

    Expressions of the inputs are grown layer by layer, screened by how well they *order* the target
    (`concordant_divergence`, one sort each), and the classes of expressions that order best are fitted: within a class,
    least squares chooses among powers, roots, exponentials, logarithms and other monotone functions, because no score
    of ranks can. Products of powers are fitted on logarithms. Sums of up to ``n_terms`` terms are found by screening
    residuals and by trying all subsets of the terms found. Constants inside functions come from nonlinear least
    squares.

    The search widens until only rounding errors are left, nothing orders the residuals, or the budget is spent. Of the
    formulas that are not both longer and worse than another, the one with the shortest description of formula and
    residuals together is taken. Formulas need three rows for each fitted constant, those inside functions included;
    the mean is always allowed.

    Parameters
    ----------
    n_terms : int, default=3
        Most terms of a sum.
    unary : sequence of str, default=("square", "sqrt", "inverse", "exp", "log", "sin", "cos", "1+", "1-")
        Functions that expressions are built with, out of those of `SymbolicFeatures`.
    binary : sequence of str, default=("+", "-", "*", "/")
        Operators that combine two expressions.
    max_expressions : int, default=200_000
        Expressions that are screened, each time that they are; the search ends, within a layer, when so many were, up
        to a few thousand. 200,000 take about a second.
    time_limit : float, optional
        Seconds after which nothing further is screened or fitted; what has begun, a tenth of a second or so, ends.
        Results may then depend on the machine.
    max_rows : int, default=500
        Rows, drawn at random, on which expressions are screened; constants are fitted on all rows.
    units : array-like of shape (n_inputs, n_base_units), optional
        Exponents of the physical units of the inputs, whole numbers. Then only sums of equal units are formed, and exp,
        log, sin, cos only of dimensionless numbers.
    target_units : array-like of shape (n_base_units,), optional
        Exponents of the units of the target: all terms then have these units. Needs ``units``.
    random_state : None, int, Generator or RandomState
        Source of the sample of rows.
    n_jobs : int, optional
        Threads; the result is the same for every number.

    Attributes
    ----------
    formula_ : SymbolicFormula
        The formula chosen; ``str(formula_)`` writes it.
    pareto_ : list of SymbolicFormula
        The shortest formula, and every longer one that fits better than all shorter ones.
    rivals_ : list of SymbolicFormula
        Other functions as long as ``formula_``, whose errors of rows left out are within a standard error of its: the
        data do not tell them apart.
    searched_ : list of dict
        What was searched: "depth", "pool" (stored expressions), "screened" (expressions scored so far) and "formula"
        (the best so far).
    stopped_ : str
        Why the search ended.
    notes_ : tuple of str
        What a reader should know, such as that the fit is poor or that one term is enough.
    n_features_in_ : int
        Number of inputs.

    Notes
    -----
    Ranks see only monotone relations: a target that turns within the range of all expressions tried is not found, but
    for waves of an input, :math:`a \sin(b x + c) + d`, whose frequencies are tried on a grid of up to 25 periods. The
    error of rows left out (``cv_rmse``) takes the form of the formula as given, which was chosen among many thousands
    on the same rows, and fits the constants inside its functions again only to first order: hold out rows, or
    cross-validate the whole regressor, for an honest estimate.

    Rows on which the formula is not defined, such as the logarithm of a negative number, are predicted by the mean of
    the training target, with a warning.

    References
    ----------
    Luo, Li (2024), Ranking perspective for tree-based methods with applications to symbolic feature selection. Ouyang
    et al. (2018), SISSO. Ye, Senftle, Li (2024), Operator-induced structural variable selection.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.screening import SymbolicRegressor
    >>> axis = np.array([0.387, 0.723, 1.0, 1.524, 5.203, 9.537, 19.19, 30.07])
    >>> years = np.array([0.2408, 0.6152, 1.0, 1.8808, 11.862, 29.447, 84.017, 164.79])
    >>> print(SymbolicRegressor().fit(axis[:, None], years).formula_)
    0.9994*x0^1.5
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_terms": [Interval(Integral, 1, 6, closed="both")],
        "unary": ["array-like", str],
        "binary": ["array-like", str],
        "max_expressions": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="neither")],
        "max_rows": [Interval(Integral, 10, None, closed="left")],
        "units": [None, "array-like"],
        "target_units": [None, "array-like"],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": N_JOBS,
    }

    n_features_in_: int

    _saved: ClassVar[Saved] = {
        "n_features_in_": COUNT,
        "pareto_": list_of(instance("SymbolicFormula")),
        "formula_": instance("SymbolicFormula"),
        "rivals_": list_of(instance("SymbolicFormula")),
        "searched_": list_of(instance("dict")),
        "_stages": list_of(instance("SymbolicFormula")),
        "stopped_": STRING,
        "notes_": tuple_of(STRING),
        "_mean": NUMBER,
    }

    def __init__(
        self,
        n_terms: int = 3,
        *,
        unary: Sequence[str] = ("square", "sqrt", "inverse", "exp", "log", "sin", "cos", "1+", "1-"),
        binary: Sequence[str] = ("+", "-", "*", "/"),
        max_expressions: int = 200_000,
        time_limit: float | None = None,
        max_rows: int = 500,
        units: ArrayLike | None = None,
        target_units: ArrayLike | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_terms = n_terms
        self.unary = unary
        self.binary = binary
        self.max_expressions = max_expressions
        self.time_limit = time_limit
        self.max_rows = max_rows
        self.units = units
        self.target_units = target_units
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SymbolicRegressor:
        """Search for a formula.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs.
        y : array-like of shape (n_samples,)
            Target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the squared errors of the rows, such as 1 / variance; by default all count alike. Rows of weight
            0 are left out. Constants, errors and the choice of a formula follow the weights; which expressions are
            fitted is decided by the order of the rows, without them. A row of weight 2 is one precise observation, not
            two, so that fitting differs from that of two copies of it.

        Returns
        -------
        SymbolicRegressor
            The regressor itself.
        """
        self._validate_params()
        inputs, target = check_table(self, X, y)
        root = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(target), name="sample_weight", each="row")
            inputs, target, weights = inputs[weights > 0], target[weights > 0], weights[weights > 0]
            if len(target) < 3:
                raise ValueError(
                    f"the weight of all rows but {len(target)} is zero; screening needs at least 3 rows with a weight"
                )
            target = check_target(target)  # what is left may be constant
            root = np.sqrt(weights / weights.mean())
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(inputs.shape[1])])
        rows = np.arange(len(target))
        if len(rows) > self.max_rows:
            rows = np.sort(check_generator(self.random_state).choice(len(rows), self.max_rows, replace=False))
            if np.ptp(target[rows]) == 0:
                rows = np.argsort(target, kind="stable")[:: max(1, len(target) // self.max_rows)]
        search = self._search(inputs[rows], target[rows], names, None if root is None else root[rows])
        self.pareto_, chosen, self.rivals_ = final_formulas(search, inputs, target, root)
        self.formula_ = self.pareto_[chosen]
        self._stages = [formula_of(search, stage.best) for stage in search.stages]
        self.searched_ = [
            {"depth": stage.depth, "pool": stage.n_pool, "screened": stage.n_screened, "formula": str(formula)}
            for stage, formula in zip(search.stages, self._stages, strict=True)
        ]
        self.stopped_ = search.stopped
        self._mean = float(np.average(target, weights=None if root is None else root**2))
        self.notes_ = tuple(
            notes_on(
                self.pareto_,
                chosen,
                target,
                self.n_terms,
                search.stopped,
                left_out=search.fits.left_out,
                rivals=self.rivals_,
            )
        )
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Values of the formula.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_inputs)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions; the mean of the training target, with a warning, where the formula is not defined.
        """
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        found = self.formula_.predict(validate_data(self, X, reset=False, dtype=np.float64))
        undefined = np.isnan(found)
        if undefined.any():
            warnings.warn(
                f"the formula {self.formula_} is not defined on {counted(int(undefined.sum()), 'row')}, which get the "
                "mean of the training target; choose another formula of pareto_, or fit on rows like these",
                stacklevel=2,
            )
            found[undefined] = self._mean
        return found

    def summary(
        self, target_name: str = "y", input_names: Sequence[str] | None = None, notes: Sequence[str] = ()
    ) -> FormulaSummary:
        """The formulas and what was searched, as a result that shows itself and gives a data frame.

        Parameters
        ----------
        target_name : str, default="y"
            Name of the target.
        input_names : sequence of str, optional
            Names of the inputs; by default those of ``fit``, else x0, x1, ...
        notes : sequence of str, optional
            Further notes, such as which columns were left out.

        Returns
        -------
        FormulaSummary
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        chosen = self.pareto_.index(self.formula_)
        formulas, rivals, stages = (
            tuple(some if input_names is None else (formula.named(input_names) for formula in some))
            for some in (self.pareto_, self.rivals_, self._stages)
        )
        searched = tuple(
            {**stage, "formula": str(formula)} for stage, formula in zip(self.searched_, stages, strict=True)
        )
        ours = renamed_notes(self.notes_, [*self.pareto_, *self.rivals_], [*formulas, *rivals])
        return FormulaSummary(target_name, formulas, chosen, searched, self.stopped_, (*ours, *notes), rivals)

    def to_sympy(self, simplify: bool = False) -> Any:
        """The formula as a SymPy expression; see `SymbolicFormula.to_sympy`."""
        return self._checked().to_sympy(simplify)

    def to_latex(self, digits: int = 4) -> str:
        """The formula in LaTeX; see `SymbolicFormula.to_latex`."""
        return self._checked().to_latex(digits)

    def to_python(self, name: str = "formula") -> str:
        """The formula as the source of a Python function; see `SymbolicFormula.to_python`."""
        return self._checked().to_python(name)

    def _checked(self) -> SymbolicFormula:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self.formula_

    def _search(self, inputs: FloatArray, target: FloatArray, names: Sequence[str], root: FloatArray | None) -> Search:
        grammar = Grammar.checked("ub", self.unary, self.binary, "cumulative")
        pool = ExpressionPool(inputs, list(names), grammar, self.units, max_bytes=2**33)
        units = None
        if self.target_units is not None:
            units = np.asarray(self.target_units, dtype=np.float64)
            if pool.units is None:
                raise ValueError("target_units is given, but units is not; give the units of the inputs too")
            if units.shape != pool.units.shape[1:]:
                raise ValueError(
                    f"target_units has shape {units.shape}, but units has {pool.units.shape[1]} base units; give one "
                    "exponent for each"
                )
        search = Search(
            pool,
            target,
            n_terms=self.n_terms,
            max_expressions=self.max_expressions,
            deadline=np.inf if self.time_limit is None else time.monotonic() + self.time_limit,
            target_units=units,
            root=root,
            n_jobs=self.n_jobs,
        )
        search.run()
        return search
