"""`screen_expressions`: which expressions of a table order a target, which member of each class fits, and a formula.

``rankwise screen`` prints its result.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise._tables import Result, TextTable, counted, make_frame
from rankwise._typing import ArrayLike, FloatArray, IntArray
from rankwise._validation import check_n_jobs, check_whole_number
from rankwise.screening.base import check_features, check_target
from rankwise.screening.choices import final_formulas
from rankwise.screening.concordance import Target
from rankwise.screening.expressions import BY_CODE, ExpressionTable
from rankwise.screening.features import SymbolicFeatures
from rankwise.screening.fits import Fits, finite
from rankwise.screening.formulas import FormulaSummary, SymbolicFormula, notes_on
from rankwise.screening.pools import ExpressionPool, Grammar
from rankwise.screening.search import Search
from rankwise.screening.selector import ConcordanceSelector
from rankwise.screening.terms import class_terms

# Nothing orders a target if corrected p-values are above this, as by chance, and divergences above this part of that of
# no relation: few rows have large p-values even in perfect order.
_CHANCE, _SOME = 0.05, 0.25


@dataclass(frozen=True, eq=False, repr=False)
class ScreeningResult(Result):
    """Expressions by how well they order a target; made by `screen_expressions`.

    Attributes
    ----------
    target : str
        Name of the target.
    inputs : tuple of str
        Names of the inputs.
    n_rows : int
        Number of rows.
    n_expressions, n_usable : int
        Expressions screened, and those among them that are finite and not constant.
    complete : bool
        False if time ran out.
    two_sided : bool
        Whether the reverse order counts as a relation.
    unrelated : float
        The divergence of an expression that has no relation to the target.
    expressions : tuple of str
        The expressions that order best, best first, each in the place of its class: V if V^2 was screened, and orders
        the rows as V does.
    divergence, z, p_value, adjusted : ndarray of shape (n_selected,)
        Their concordant divergence, standard score, p-value, and p-value corrected for the number of expressions.
    complexity : ndarray of shape (n_selected,)
        Number of their operators.
    fits : tuple of SymbolicFormula
        For each expression, the function of it that fits the target: those that order alike are told apart here.
    formulas : FormulaSummary or None
        Formulas of up to ``n_terms`` terms, if asked for.
    notes : tuple of str
        What a reader should know.
    """

    target: str
    inputs: tuple[str, ...]
    n_rows: int
    n_expressions: int
    n_usable: int
    complete: bool
    two_sided: bool
    unrelated: float
    expressions: tuple[str, ...]
    divergence: FloatArray
    z: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    complexity: IntArray
    fits: tuple[SymbolicFormula, ...]
    formulas: FormulaSummary | None
    notes: tuple[str, ...] = ()

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per expression, of pandas by default, else of the named backend."""
        rows = self.rows()
        return make_frame({name: [row[name] for row in rows] for name in rows[0]}, backend)

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per expression, best first."""
        return [
            {
                "expression": name,
                "order": "reverse" if self.z[i] < 0 else "same",
                "T0": float(self.divergence[i]),
                "relative": float(self.divergence[i]) / self.unrelated,
                "z": float(self.z[i]),
                "p_value": float(self.p_value[i]),
                "adjusted": float(self.adjusted[i]),
                "complexity": int(self.complexity[i]),
                "fit": str(self.fits[i]),
                "r2": float(self.fits[i].r2),
            }
            for i, name in enumerate(self.expressions)
        ]

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "y": self.target,
            "inputs": list(self.inputs),
            "n_rows": self.n_rows,
            "n_expressions": self.n_expressions,
            "n_usable": self.n_usable,
            "complete": self.complete,
            "unrelated": self.unrelated,
            "expressions": self.rows(),
            "model": None if self.formulas is None else self.formulas.as_dict(),
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """The expressions as a table of text, and the formulas as another."""
        title = (
            f"{self.target}: {len(self.expressions)} of {counted(self.n_expressions, 'expression')} of "
            f"{counted(len(self.inputs), 'column')}, on {counted(self.n_rows, 'row')}"
        )
        either, reverse = (" or its reverse", "") if self.two_sided else ("", f", {2 * self.unrelated:.4g} the reverse")
        note = f"T0: 0 is the order of {self.target}{either}, {self.unrelated:.4g} no relation{reverse}"
        rows = [
            [
                row["expression"],
                row["order"],
                f"{row['T0']:.4g}",
                f"{row['relative']:.1%}",
                f"{row['z']:+.1f}",
                f"{row['p_value']:.2g}",
                f"{row['adjusted']:.2g}",
                row["fit"],
                f"{row['r2']:.4f}",
            ]
            for row in self.rows()
        ]
        columns = ["expression", "order", "T0", "of no relation", "z", "p", "p, corrected", "what fits", "R2"]
        table = TextTable(title, "; ".join([note, *self.notes]), columns, rows)
        return [table, *([] if self.formulas is None else self.formulas.tables())]


def screen_expressions(
    X: ArrayLike,
    y: ArrayLike,
    features: SymbolicFeatures | None = None,
    *,
    k: int = 20,
    n_terms: int | None = None,
    two_sided: bool = True,
    dedupe: bool = True,
    input_names: Sequence[str] | None = None,
    target_name: str = "y",
    notes: Sequence[str] = (),
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> ScreeningResult:
    """Screen expressions of the inputs by how well they order a target, and fit the classes that order best.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_inputs)
        Inputs.
    y : array-like of shape (n_samples,)
        Target.
    features : SymbolicFeatures, optional
        The expressions; by default the columns of X as they are.
    k : int, default=20
        How many expressions to report.
    n_terms : int, optional
        Find formulas of up to so many terms. Each round screens for what a formula of fewer terms leaves unexplained.
    two_sided : bool, default=True
        Count the reverse order as a relation.
    dedupe : bool, default=True
        Report one of the expressions that give the rows the same order, the simplest.
    input_names : sequence of str, optional
        Names of the inputs; by default those of the columns of a data frame, else x0, x1, ...
    target_name : str, default="y"
        Name of the target.
    notes : sequence of str, optional
        Further notes for the result, such as which columns were left out.
    time_limit : float, optional
        Seconds after which screening stops, with a warning.
    n_jobs : int, optional
        Threads; the result is the same for every number.

    Returns
    -------
    ScreeningResult

    See Also
    --------
    SymbolicRegressor : Finds a formula without a choice of expressions.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.screening import SymbolicFeatures, screen_expressions
    >>> length = np.linspace(0.1, 2, 20)
    >>> result = screen_expressions(length[:, None], 2 * np.sqrt(length), SymbolicFeatures("bu"), n_terms=1)
    >>> print(result.formulas.formulas[result.formulas.chosen])
    2*sqrt(x0)
    """
    check_n_jobs(n_jobs)
    selector = ConcordanceSelector(
        k, two_sided=two_sided, dedupe=dedupe, features=features, time_limit=time_limit, n_jobs=n_jobs
    ).fit(X, y)
    target = check_target(y)
    inputs, _ = check_features(X, len(target))
    if input_names is None:
        input_names = getattr(selector, "feature_names_in_", [f"x{i}" for i in range(inputs.shape[1])])
    names = [str(name) for name in input_names]
    if len(names) != inputs.shape[1]:
        raise ValueError(f"input_names has {len(names)} names, but X has {inputs.shape[1]} columns; give one for each")
    table, place = selector._expressions.only(selector._rows)
    table.inputs, rows = tuple(names), place[selector._rows]
    found = selector.table_
    signs = np.ones(len(rows))
    if dedupe:
        values = np.ascontiguousarray(table.evaluate(inputs, np.arange(len(table))).T)
        simplest = [_simplest(row, table, values, two_sided) for row in rows.tolist()]
        rows, signs = np.array([row for row, _ in simplest]), np.array([sign for _, sign in simplest])
    adjusted = found["adjusted"]
    # A constant orders nothing: its divergence is that of no relation.
    unrelated = Target.of(target).covariation * Target.of(target).unit
    if not (adjusted <= _CHANCE).any() and (found["divergence"] > _SOME * unrelated).all():
        notes = [
            f"nothing orders {target_name} beyond chance: the smallest corrected p-value is {adjusted.min():.2g}; try "
            "other operators or columns, or more rows",
            *notes,
        ]
    formulas = None
    if n_terms is not None:
        check_whole_number("n_terms", n_terms, at_least=1)
        formulas = _formulas(inputs, target, names, features, n_terms, time_limit, n_jobs, target_name)
    return ScreeningResult(
        target_name,
        tuple(names),
        len(target),
        selector.n_candidates_,
        selector.n_usable_,
        selector.complete_,
        two_sided,
        unrelated,
        tuple(table.formulas(rows)),
        found["divergence"],
        signs * found["z"],
        found["p_value"],
        adjusted,
        table.complexity[rows],
        tuple(_fit_of_class(row, table, inputs, target) for row in rows.tolist()),
        formulas,
        tuple(notes),
    )


def _simplest(row: int, table: ExpressionTable, values: FloatArray, two_sided: bool) -> tuple[int, float]:
    """What is left of an expression without functions that keep the order of the rows; -1 if the order is reversed.

    Layers make 2*V or V^2, but not V, of V; the class is that of V.
    """
    sign = 1.0
    while row >= len(table.inputs):
        name, left = BY_CODE[int(table.codes[row])].name, int(table.lefts[row])
        direction = _direction(name, values[left], twice=left == table.rights[row])
        if direction == 0 or (direction < 0 and not two_sided):
            break
        row, sign = left, direction * sign
    return row, sign


def _direction(name: str, operand: FloatArray, *, twice: bool) -> float:
    """1 if an operator keeps the order of its operand, -1 if it reverses it, 0 if it does neither."""
    one_sided = 1.0 if operand.min() >= 0 else -1.0 if operand.max() <= 0 else 0.0
    if name in ("square", "abs") or (name == "*" and twice):
        return one_sided
    if name == "inverse":
        return -abs(one_sided)
    if name in ("id", "cube", "sqrt", "cbrt", "exp", "log", "1+") or (name == "+" and twice):
        return 1.0
    return -1.0 if name == "1-" else 0.0


def _fit_of_class(row: int, table: ExpressionTable, inputs: FloatArray, y: FloatArray) -> SymbolicFormula:
    """The monotone function of an expression that fits the target, with constants by least squares."""
    small, place = table.only(np.array([row]))
    values = np.ascontiguousarray(small.evaluate(inputs, np.arange(len(small))).T)
    terms = class_terms(int(place[row]), small, values)
    columns = np.array([term.values(values) for term in terms])
    good = finite(columns)
    fits = Fits(y, inputs.shape[1])
    fits.offer_terms([term for term, ok in zip(terms, good, strict=True) if ok], columns[good], small.complexity)
    models = [model for model in fits.models.values() if model.terms] or list(fits.models.values())
    return SymbolicFormula.of(min(models, key=fits.description_length), small, values, y)


def _formulas(
    inputs: FloatArray,
    y: FloatArray,
    names: Sequence[str],
    features: SymbolicFeatures | None,
    n_terms: int,
    time_limit: float | None,
    n_jobs: int | None,
    target_name: str,
) -> FormulaSummary:
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    letter = None
    if features is None:
        pool = ExpressionPool(inputs, names, Grammar("", [], [], cumulative=True), None, max_bytes=0)
    else:
        pool = features.start(inputs, names)
        for layer in range(len(pool.grammar.architecture) - 1):
            pool.grow(layer, deadline)
        letter = pool.grammar.architecture[-1]
    search = Search(pool, y, n_terms=n_terms, max_expressions=2**62, deadline=deadline, n_jobs=n_jobs)
    search.run_once(letter)
    found, chosen, rivals = final_formulas(search, inputs, y)
    notes = tuple(notes_on(found, chosen, y, n_terms, search.stopped, left_out=search.fits.left_out, rivals=rivals))
    searched = ({"depth": 1, "pool": len(pool.members), "screened": search.n_screened, "formula": str(found[chosen])},)
    return FormulaSummary(target_name, tuple(found), chosen, searched, search.stopped, notes, tuple(rivals))
