"""Fitted formulas: how they are written, evaluated, and exported to SymPy, LaTeX and Python.

`SymbolicRegressor` keeps a list of them, the shortest first.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from rankwise._optional import require
from rankwise._state import COUNT, FLOATS, NUMBER, Saved, ensure, instance, maybe, tuple_of
from rankwise._tables import Result, TextTable, counted, make_frame
from rankwise._typing import FloatArray
from rankwise.screening.expressions import BY_CODE, UNARY, ExpressionTable
from rankwise.screening.fits import ROWS_PER_CONSTANT, Model, left_out_errors
from rankwise.screening.term_texts import root_of_square, term_text
from rankwise.screening.terms import LINKS, Term

# How operators and links are written in Python; {a} and {b} are operands.
_IN_PYTHON = {
    "square": "{a}**2",
    "cube": "{a}**3",
    "sqrt": "np.sqrt({a})",
    "cbrt": "np.cbrt({a})",
    "inverse": "1/{a}",
    "inverse sqrt": "1/np.sqrt({a})",
    "exp": "np.exp({a})",
    "log": "np.log({a})",
    "sin": "np.sin({a})",
    "cos": "np.cos({a})",
    "abs": "np.abs({a})",
    "arcsin": "np.arcsin({a})",
    "arctan": "np.arctan({a})",
    "tanh": "np.tanh({a})",
    "1+": "(1 + {a})",
    "1-": "(1 - {a})",
    "+": "({a} + {b})",
    "-": "({a} - {b})",
    "*": "({a} * {b})",
    "/": "({a} / {b})",
    "|-|": "np.abs({a} - {b})",
}
# A formula that explains less of the variance of rows left out is called poor.
_POOR = 0.5
# A formula may lose so much by rounding, relative to the target's spread, and count as exact.
_EXACT = 1e-8
# And so much relative to its largest value, whose last digits are lost.
_LOST_DIGITS = 10 * float(np.finfo(np.float64).eps)
# A formula with more operators and constants than this, or than a third of the rows, is called long.
_LONG = 20
# Fitted numbers so near to a whole one are exported as such.
_NEAR_WHOLE = 1e-9
# Names of inputs that a reader would take for functions.
_NAMES_OF_FUNCTIONS = {*LINKS, *UNARY, "tan", "sinh", "cosh", "asin", "acos", "atan", "ln", "min", "max", "arg", "det"}
# Names of links in SymPy.
_IN_SYMPY = {"arcsin": "asin", "arctan": "atan"}


@dataclass(frozen=True, eq=False, repr=False)
class SymbolicFormula:
    """A formula with fitted constants, and how well it fits; made by `SymbolicRegressor`.

    Attributes
    ----------
    table : ExpressionTable
        The expressions that the terms are made of.
    terms : tuple of Term
        Functions of products of powers of expressions.
    coef : ndarray of shape (n_terms,)
        Their coefficients.
    intercept : float or None
        The constant; None where there is none.
    complexity : int
        Number of operators and constants.
    n_constants : int
        Number of fitted constants: coefficients, the intercept, and those inside functions and exponents; a simple
        power such as 1.5 is part of the form.
    rmse, r2 : float
        Root mean squared error, and share of the variance of the target that is explained, on the rows of ``fit``; both
        weighted if the rows have weights.
    cv_rmse : float
        Root mean squared error of rows that are left out in turn when the constants are fitted: exact for coefficients
        and intercept, to first order for constants inside functions. The form of the formula was chosen on all rows, so
        errors on new data may be larger.
    """

    table: ExpressionTable
    terms: tuple[Term, ...]
    coef: FloatArray
    intercept: float | None
    complexity: int
    n_constants: int
    rmse: float
    r2: float
    cv_rmse: float

    _saved: ClassVar[Saved] = {
        "table": instance("ExpressionTable"),
        "terms": tuple_of(instance("Term")),
        "coef": FLOATS,
        "intercept": maybe(NUMBER),
        "complexity": COUNT,
        "n_constants": COUNT,
        "rmse": NUMBER,
        "r2": NUMBER,
        "cv_rmse": NUMBER,
    }

    @classmethod
    def of(
        cls, model: Model, table: ExpressionTable, values: FloatArray, y: FloatArray, root: FloatArray | None = None
    ) -> SymbolicFormula:
        """A fitted model, with its errors on the rows that it was fitted to; ``root`` is that of weights of mean 1."""
        weights = None if root is None else root**2
        spread = len(y) * float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
        return cls(
            table,
            model.terms,
            np.array(model.coef, dtype=np.float64),
            model.intercept,
            model.complexity,
            model.n_constants,
            rmse=float(np.sqrt(model.rss / len(y))),
            r2=1.0 - model.rss / spread,
            cv_rmse=float(np.sqrt((left_out_errors(model, values, y, root) ** 2).mean())),
        )

    def _check_saved(self) -> None:
        rows = [row for term in self.terms for row in term.rows]
        ensure(all(type(row) is int and 0 <= row < len(self.table) for row in rows), "an expression does not exist")
        ensure(len(self.terms) == len(self.coef), "terms and coefficients differ")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<SymbolicFormula {self.text()}>"

    def named(self, inputs: Sequence[str]) -> SymbolicFormula:
        """The same formula with other names of the inputs."""
        table, _ = self.table.only(np.arange(len(self.table)))
        table.inputs = tuple(str(name) for name in inputs)
        ensure(len(table.inputs) == len(self.table.inputs), "give one name for each input")
        return replace(self, table=table)

    @property
    def arguments(self) -> dict[str, str]:
        """Identifiers of the inputs in `to_python` and `to_sympy`, and the names that they stand for.

        A name that is an identifier stands for itself. In others, what cannot be part of one becomes an underscore:
        "speed (m/s)" is speed_m_s. Keywords and np get an underscore at the end, and copies a number.
        """
        return dict(zip(_identifiers(self.table.inputs), self.table.inputs, strict=True))

    def text(self, digits: int = 4) -> str:
        """The formula as people write it, with so many digits of its constants."""
        parts = [term_text(c, term, self.table, digits) for c, term in zip(self.coef, self.terms, strict=True)]
        if self.intercept is not None:
            parts.insert(0, f"{self.intercept:.{digits}g}")
        return re.sub(r"\+ -", "- ", " + ".join(parts)) or "0"

    def predict(self, X: FloatArray) -> FloatArray:
        """Values of the formula; NaN outside of its domain.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_inputs)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = np.ascontiguousarray(self.table.evaluate(X, np.arange(len(self.table))).T)
        model = Model(self.terms, tuple(self.coef.tolist()), self.intercept, 0.0, 0, 0)
        found = model.predict(values)
        return np.where(np.isfinite(found), found, np.nan)

    def to_sympy(self, simplify: bool = False) -> Any:
        """The formula as a SymPy expression with real symbols, the keys of `arguments`; needs SymPy.

        Parameters
        ----------
        simplify : bool, default=False
            Whether SymPy simplifies it.

        Returns
        -------
        sympy.Expr
        """
        sympy = require("sympy", extra="symbolic", caller="SymbolicFormula.to_sympy")
        rows = np.arange(len(self.table))
        expressions = self.named(list(self.arguments)).table.to_sympy(rows, "SymbolicFormula.to_sympy")
        total = sympy.Integer(0) if self.intercept is None else _whole(sympy, self.intercept)
        for c, term in zip(self.coef.tolist(), self.terms, strict=True):
            inside = sympy.Integer(1)
            for row, exponent in zip(term.rows, term.exponents, strict=True):
                inside *= expressions[row] ** _exact(sympy, exponent)
            inside = _exact(sympy, term.scale) * inside + _exact(sympy, term.shift)
            if term.link in ("inverse", "square", "inverse sqrt"):
                inside = inside ** {"inverse": -1, "square": 2, "inverse sqrt": -sympy.Rational(1, 2)}[term.link]
            elif term.link != "id":
                inside = getattr(sympy, _IN_SYMPY.get(term.link, term.link))(inside)
            total += _whole(sympy, c) * inside
        return sympy.simplify(total) if simplify else total

    def to_latex(self, digits: int = 4) -> str:
        """The formula in LaTeX, with so many digits of its constants; needs SymPy.

        Names of inputs that are no identifiers are set as text.
        """
        sympy = require("sympy", extra="symbolic", caller="SymbolicFormula.to_latex")
        expression = self.to_sympy()
        rounded = {number: sympy.Float(number, digits) for number in expression.atoms(sympy.Float)}
        whole = {n: sympy.Integer(round(float(n))) for n in rounded.values() if float(n) in (1.0, -1.0)}
        texts = {
            sympy.Symbol(identifier, real=True): rf"\text{{{_latex_text(name)}}}"
            for identifier, name in self.arguments.items()
            if identifier != name or name in _NAMES_OF_FUNCTIONS
        }
        return str(sympy.latex(expression.xreplace(rounded).xreplace(whole), symbol_names=texts))

    def to_python(self, name: str = "formula") -> str:
        """The formula as the source of a Python function of NumPy arrays, with all digits.

        Its arguments are the keys of `arguments`; where these are not the names of the inputs, a comment says which is
        which.

        Parameters
        ----------
        name : str, default="formula"
            Name of the function.

        Returns
        -------
        str
        """
        names = list(self.arguments)
        code = list(names)
        for row in range(len(names), len(self.table)):
            operator = BY_CODE[int(self.table.codes[row])].name
            a, b = code[self.table.lefts[row]], code[self.table.rights[row]]
            written = _IN_PYTHON[operator].format(a=a, b=b)
            code.append(written if written.endswith(")") else f"({written})")
        parts = [] if self.intercept is None else [repr(float(self.intercept))]
        for c, term in zip(self.coef.tolist(), self.terms, strict=True):
            factors = [
                _power_code(code[row], e) if root is None else _power_code(f"np.abs({code[root]})", 2 * e)
                for row, e in zip(term.rows, term.exponents, strict=True)
                for root in [root_of_square(row, e, self.table)]
            ]
            inside = " * ".join(factors)
            if term.scale != 1:
                inside = f"{term.scale!r} * {inside}"
            if term.shift:
                inside = f"{inside} + {term.shift!r}"
            if term.link != "id":
                inside = _IN_PYTHON[term.link].format(a=f"({inside})")
            parts.append(f"{c!r} * {inside}" if term.link == "id" and not term.shift else f"{c!r} * ({inside})")
        body = " + ".join(parts) or "0.0"
        others = [f"{argument}: {column!r}" for argument, column in self.arguments.items() if argument != column]
        about = f"    # {', '.join(others)}\n" if others else ""
        return f"import numpy as np\n\n\ndef {name}({', '.join(names)}):\n{about}    return {body}\n"


class FormulaSummary(Result):
    """Formulas for one target, the shortest first; made by `SymbolicRegressor.summary`.

    Attributes
    ----------
    target : str
        Name of the target.
    formulas : tuple of SymbolicFormula
        The shortest formula, and every longer one that fits better.
    chosen : int
        Place of the formula chosen.
    searched : tuple of dict
        What was searched, depth by depth.
    stopped : str
        Why the search ended.
    notes : tuple of str
        What a reader should know.
    rivals : tuple of SymbolicFormula
        Other formulas as long as the one chosen, whose errors of rows left out are within a standard error of its.
    """

    def __init__(
        self,
        target: str,
        formulas: tuple[SymbolicFormula, ...],
        chosen: int,
        searched: tuple[dict[str, Any], ...],
        stopped: str,
        notes: tuple[str, ...],
        rivals: tuple[SymbolicFormula, ...] = (),
    ) -> None:
        self.target, self.formulas, self.chosen = target, formulas, chosen
        self.searched, self.stopped, self.notes, self.rivals = searched, stopped, notes, rivals

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row per formula: formula, complexity, rmse, r2, cv_rmse, chosen."""
        return make_frame({name: [row[name] for row in self.rows()] for name in self.rows()[0]}, backend)

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "y": self.target,
            "formula": f"{self.target} = {self.formulas[self.chosen]}",
            "formulas": self.rows(),
            "rivals": [_row(formula) for formula in self.rivals],
            "searched": list(self.searched),
            "stopped": self.stopped,
            "notes": list(self.notes),
        }

    def tables(self) -> list[TextTable]:
        """The formulas as a table of text, best first what was chosen."""
        rows = [["*" if row["chosen"] else "", *_cells(row)] for row in self.rows()]
        title = f"{self.target} = {self.formulas[self.chosen]}"
        searched = counted(self.searched[-1]["screened"] if self.searched else 0, "expression")
        note = "; ".join([*self.notes, f"{searched} screened: {self.stopped}"])
        columns = ["formula", "complexity", "R2", "RMSE", "RMSE, left out"]
        tables = [TextTable(title, note, ["", *columns], rows)]
        if self.rivals:
            note = "as long as the formula chosen, with an error of rows left out within a standard error of its"
            tables.append(TextTable("Rivals", note, columns, [_cells(_row(formula)) for formula in self.rivals]))
        return tables

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per formula, the shortest first."""
        return [{**_row(formula), "chosen": place == self.chosen} for place, formula in enumerate(self.formulas)]


def _row(formula: SymbolicFormula) -> dict[str, Any]:
    return {
        "formula": str(formula),
        "complexity": formula.complexity,
        "rmse": formula.rmse,
        "r2": formula.r2,
        "cv_rmse": formula.cv_rmse,
    }


def _cells(row: dict[str, Any]) -> list[str]:
    numbers = [f"{row[name]:.4g}" for name in ("r2", "rmse", "cv_rmse")]
    return [row["formula"], str(row["complexity"]), *numbers]


def notes_on(
    front: Sequence[SymbolicFormula],
    chosen: int,
    y: FloatArray,
    n_terms: int,
    stopped: str,
    *,
    left_out: bool,
    rivals: Sequence[SymbolicFormula] = (),
) -> list[str]:
    """What a reader should know about the formula chosen of a front.

    ``left_out`` says whether formulas were not considered because they have too many constants for the rows.
    """
    formula = front[chosen]
    notes, spread = [], float(y.std())
    most_constants = max(1, len(y) // ROWS_PER_CONSTANT)
    if not formula.terms:
        notes.append("no formula describes the target better than its mean")
    elif formula.cv_rmse**2 > (1 - _POOR) * spread**2:
        notes.append(f"a poor fit: it explains {formula.r2:.0%} of the variance; treat it as a trend, not as a law")
    elif formula.rmse <= max(_EXACT * spread, _LOST_DIGITS * float(abs(y).max())):
        notes.append("exact up to rounding")
    if len(formula.terms) == 1 and min(n_terms, most_constants) > 1:
        notes.append("one term is enough")
    if rivals:
        notes.append(
            f"the data do not tell it from {counted(len(rivals), 'other formula')} as long, such as {rivals[0]}"
        )
    if stopped.startswith(("the budget", "the time")):
        notes.append(f"{stopped}: a better formula may exist beyond what was searched")
    longest = min(_LONG, len(y) / 3)
    if formula.complexity > longest:
        short = [other for other in front if other.complexity <= longest][-1]
        notes.append(
            f"a long formula for {counted(len(y), 'row')} (complexity {formula.complexity}); a shorter one is {short}, "
            f"with R2 = {short.r2:.4g}"
        )
    if left_out:
        notes.append(
            f"only {counted(len(y), 'row')}: formulas with more than {counted(most_constants, 'constant')} were not "
            "considered"
        )
    return notes


def renamed_notes(
    notes: Sequence[str], formulas: Sequence[SymbolicFormula], renamed: Sequence[SymbolicFormula]
) -> list[str]:
    """Notes of `notes_on` with the formulas in them under other names of the inputs."""
    found = []
    for note in notes:
        for old, new in zip(formulas, renamed, strict=True):
            if note.endswith(f", such as {old}"):
                note = note.removesuffix(str(old)) + str(new)
                break
            if f"; a shorter one is {old}, with R2" in note:
                note = note.replace(f"; a shorter one is {old}, with R2", f"; a shorter one is {new}, with R2")
                break
        found.append(note)
    return found


def _power_code(base: str, exponent: float) -> str:
    if exponent == 1:
        return base
    fraction = Fraction(exponent).limit_denominator(12)
    if not _simple(exponent):
        return f"{base}**{exponent!r}"
    return f"{base}**{fraction}" if fraction.denominator == 1 and fraction > 0 else f"{base}**({fraction})"


def _simple(exponent: float) -> bool:
    return abs(float(Fraction(exponent).limit_denominator(12)) - exponent) < 1e-9


def _exact(sympy: Any, number: float) -> Any:
    """A rational number where it is simple, else a float."""
    if _simple(number):
        fraction = Fraction(number).limit_denominator(12)
        return sympy.Rational(fraction.numerator, fraction.denominator)
    return sympy.Float(number)


def _whole(sympy: Any, number: float) -> Any:
    """A whole number where a fitted one differs from it by rounding errors only, else a float."""
    near = round(number)
    return sympy.Integer(near) if near and abs(number - near) <= _NEAR_WHOLE * abs(near) else sympy.Float(number)


def _identifiers(names: tuple[str, ...]) -> list[str]:
    """Names of arguments: those of the inputs if they can be, else what is left of them."""
    wanted = [name if _is_argument(name) else _as_identifier(name, i) for i, name in enumerate(names)]
    taken = {name for name, given in zip(names, wanted, strict=True) if name == given}
    found: list[str] = []
    for name, identifier in zip(names, wanted, strict=True):
        unique, number = identifier, 2
        while unique in found or (unique in taken and unique != name):
            unique, number = f"{identifier}_{number}", number + 1
        found.append(unique)
    return found


def _is_argument(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name != "np"


def _as_identifier(name: str, place: int) -> str:
    letters = re.sub(r"\W+", "_", name).strip("_")
    if not letters:
        return f"x{place}"
    if letters[0].isdigit():
        letters = f"x{letters}"
    return letters if _is_argument(letters) else f"{letters}_" if letters.isidentifier() else f"x{place}"


def _latex_text(name: str) -> str:
    r"""A name inside of \text, with the characters that mean something there written out."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, f"\\{letter}" if letter in "#$%&_{}" else letter) for letter in name)
