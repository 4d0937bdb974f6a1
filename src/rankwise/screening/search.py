"""The search of `SymbolicRegressor`: grow expressions, screen them by order, fit the classes that are left, grow again.

Each depth widens the grammar by a unary and a binary layer on the expressions that screened best so far, until only
rounding errors are left, nothing in the pool orders the residuals, or the budget is spent.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from statistics import NormalDist

import numpy as np

from rankwise._tables import counted
from rankwise._typing import FloatArray, IntArray
from rankwise.screening.concordance import Target, tail_probability
from rankwise.screening.expressions import BINARY, UNARY
from rankwise.screening.fits import Fits, Model, finite, polish
from rankwise.screening.pools import ExpressionPool
from rankwise.screening.streams import Screened, screen
from rankwise.screening.subsets import best_subset
from rankwise.screening.terms import LINKS, Term, class_terms, product_terms, shifted_terms, wave_terms

# Most expressions that a layer stores.
_MOST_STORED = 6_000
# Expressions that the next depth works on, and how many of these unary operators are applied to.
_BEAM, _BENT = 130, 30
# Classes that are fitted in each round, and those among them that are fitted with constants inside functions.
_CLASSES, _WITH_CONSTANTS = 30, 5
# Expressions that products of powers are completed with.
_PRODUCTS = 12
# Constants are fitted from starts whose residual sum of squares is at most so many times that of the best model.
_PROMISING = 4.0
# Models that are fitted again with all constants free.
_POLISHED = 6
# Rows from which on residuals that look like noise end the search before sums are tried.
_FEWEST_TO_STOP = 100
# Rows below which neighbors are too far apart to say something.
_FEWEST_FOR_NEIGHBORS = 30
# Probability that noise looks related along an input, and how far apart rows are compared.
_BY_CHANCE, _LAGS = 0.005, (1, 2, 3)
# Members of a class that models of several terms may take.
_MEMBERS = 3
# Columns among which the best subset is searched, and most subsets.
_MOST_COLUMNS, _MOST_SUBSETS = 250, 3_000_000
# Models whose residuals are screened in each round, in stored expressions and in a stream.
_STARTS, _STARTS_IN_STREAM = 3, 1
# Expressions that are screened at least in a search for residuals, also when the budget is spent.
_FEWEST_SCREENED = 1_000
# Screenings of the stored expressions that a depth needs besides its streams.
_SCREENINGS = 6
# Inputs whose waves are tried.
_MOST_WAVES = 20
# Waves are fitted if their residual sum of squares is at most so many times that of a monotone function.
_WAVE_AT_MOST = 0.9
# Powers of a target that may be a sum where the target is none: 1/(1/a + 1/b), sqrt(a + b).
_POWERS_OF_TARGET = (-1, 2)
# Operators whose result differs from their operand by a constant and a sign.
_WITH_ONE = [UNARY[name].code for name in ("1+", "1-")]
# Ratios of two coefficients that are written as a sum without numbers, as a + b + b for 2, and how far off they may be.
_RATIOS, _NEAR_RATIO = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5), 0.15
# Simple expressions of which all pairs are tried, and partners of a model that are considered.
_PAIRED, _PARTNERS = 700, 15


@dataclass(frozen=True)
class Stage:
    """What was searched at one depth.

    Attributes
    ----------
    depth : int
        Binary layers on top of each other; 0 for products of powers alone.
    n_pool : int
        Stored expressions that were combined.
    n_screened : int
        Expressions that were scored.
    best : Model
        The best model after this depth.
    """

    depth: int
    n_pool: int
    n_screened: int
    best: Model


class Search:
    """Models of a target, from a pool of expressions that grows depth by depth.

    Attributes
    ----------
    pool : ExpressionPool
        All stored expressions.
    fits : Fits
        All models worth keeping.
    stages : list of Stage
        What was searched.
    stopped : str
        Why the search ended.
    """

    def __init__(
        self,
        pool: ExpressionPool,
        y: FloatArray,
        *,
        n_terms: int,
        max_expressions: int,
        deadline: float = np.inf,
        target_units: FloatArray | None = None,
        root: FloatArray | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.pool, self.y, self.n_terms = pool, y, n_terms
        self.root = root  # of the weights of the rows, whose mean is 1
        self.max_expressions, self.deadline, self.n_jobs = max_expressions, deadline, n_jobs
        self.target_units = target_units
        # Rows of the inputs; copies and constants are not members of the pool.
        self.inputs = np.flatnonzero(np.isin(np.arange(len(pool.table.inputs)), pool.members))
        self.fits = Fits(y, len(pool.table.inputs), root)
        self.stages: list[Stage] = []
        self.stopped = ""
        self.n_screened = 0
        self.columns: dict[Term, FloatArray] = {}
        self.neighbors: IntArray | None = None
        self.polished: set[Model] = set()

    def run(self) -> None:
        """Search until a reason to stop."""
        inputs = self.pool.members
        if not len(inputs):
            self.stopped = "all inputs are constant"
            return
        self._fit_products(np.empty(0, dtype=np.intp))
        if not self.fits.is_exact(self.fits.best):
            self._fit_linear()
        if not self.fits.is_exact(self.fits.best):
            self._fit_single(inputs)
            self._fit_waves(self.y)
        self._end_of_depth(0, len(inputs))
        depth = 0
        while not self.stopped:
            depth += 1
            if depth == 1:
                bent = self._first_layers(inputs)
                self._fit_products(self.pool.members)
                if len(self.y) < _FEWEST_TO_STOP or not self._nothing_left(self.fits.best):
                    self._rounds(None)
                    self._fit_sums_of_powers()
            else:
                everything = self.pool.members
                self._choose_beam(inputs, bent)
                self._rounds("b")
                self._fit_products(self.pool.members)
                self.pool.members = np.union1d(everything, self.pool.members)
            self._replace_terms()
            self._end_of_depth(depth, len(self.pool.members))

    def run_once(self, letter: str | None) -> None:
        """Fit what a given pool and one more layer hold, without growing either."""
        self._rounds(letter)
        self._replace_terms()
        self._polish()
        self.stages.append(Stage(1, len(self.pool.members), self.n_screened, self.fits.best))
        self.stopped = "all expressions of the grammar were screened"

    @property
    def values(self) -> FloatArray:
        """Values of all stored expressions, as rows."""
        return self.pool.rows.values

    def _end_of_depth(self, depth: int, n_pool: int) -> None:
        self._polish()
        best = self.fits.best
        self.stages.append(Stage(depth, n_pool, self.n_screened, best))
        if self.fits.is_exact(best):
            self.stopped = "only rounding errors are left"
        elif depth >= 1 and self._nothing_left(best):
            self.stopped = "the residuals look like noise"
        elif time.monotonic() > self.deadline:
            self.stopped = "the time limit was reached"
        elif self._is_spent():
            self.stopped = f"the budget of {counted(self.max_expressions, 'expression')} was spent"

    def _is_spent(self) -> bool:
        """Whether no time is left, or no expressions of the budget."""
        return time.monotonic() > self.deadline or self.n_screened >= self.max_expressions

    def _nothing_left(self, best: Model) -> bool:
        """Whether no stored expression orders the residuals, by a test corrected for their number, nor do neighbors."""
        residual = self.y - best.predict(self.values)
        target = Target.of(residual)
        found = self._screen(None, target, 1)
        if not found.n_usable or not len(found.covariation):
            return True
        z = target.z(found.covariation, found.spread)
        if tail_probability(z, True)[0] * found.n_usable <= 0.05:
            return False
        return len(residual) < _FEWEST_FOR_NEIGHBORS or (
            self._neighbors_differ(residual) and self._runs_differ(residual)
        )

    def _runs_differ(self, residual: FloatArray) -> bool:
        """Whether residuals of rows that follow each other by one input are unrelated, for every input.

        Inputs that say nothing keep rows apart that are neighbors by the one that the target depends on.
        """
        unit = (residual - residual.mean()) / (residual.std() or 1.0)
        largest = NormalDist().inv_cdf(1 - _BY_CHANCE / len(self.inputs))
        n = len(unit)
        for row in self.inputs.tolist():
            ordered = unit[np.argsort(self.values[row], kind="stable")]
            total = sum(float(ordered[lag:] @ ordered[:-lag]) for lag in _LAGS)
            if total > largest * np.sqrt(sum(n - lag for lag in _LAGS)):
                return False
        return True

    def _neighbors_differ(self, residual: FloatArray) -> bool:
        """Whether residuals of rows with similar inputs are unrelated, as those of noise are.

        The sum of products over pairs of neighbors has mean 0 and a known variance if residuals are exchangeable.
        """
        if self.neighbors is None:
            from scipy.spatial import cKDTree

            inputs = self.values[: len(self.pool.table.inputs)].T
            spread = inputs.std(axis=0)
            points = inputs[:, spread > 0] / spread[spread > 0]
            self.neighbors = np.asarray(cKDTree(points).query(points, k=min(4, len(points)))[1])[:, 1:]
        unit = residual / (residual.std() or 1.0)
        pairs = {(i, j) for i, row in enumerate(self.neighbors.tolist()) for j in row if i != j}
        mutual = sum((j, i) in pairs for i, j in pairs)
        total = sum(unit[i] * unit[j] for i, j in sorted(pairs))
        return bool(total < 2.5 * np.sqrt(len(pairs) + mutual))

    def _screen(self, letter: str | None, target: Target, k: int, dedupe: bool = True) -> Screened:
        found = screen(
            self.pool,
            letter,
            target,
            k=k,
            two_sided=True,
            dedupe=dedupe,
            deadline=self.deadline,
            most=max(_FEWEST_SCREENED, self.max_expressions - self.n_screened),
            n_jobs=self.n_jobs,
        )
        self.n_screened += found.n_candidates
        return found

    def _first_layers(self, inputs: IntArray) -> IntArray:
        """Store functions of pairs, and pairs of functions, of the inputs; return the functions of single inputs."""
        most = min(_MOST_STORED, max(_FEWEST_SCREENED, self.max_expressions))
        self._limit_members(inputs, most // 10)
        self.pool.grow(1, self.deadline)
        self.pool.grow(0, self.deadline)
        pairs = self.pool.members
        self.pool.members = inputs
        self.pool.grow(0, self.deadline)
        bent = self.pool.members
        self._limit_members(inputs, most)
        self.pool.grow(1, self.deadline)
        self.pool.members = np.union1d(pairs, self.pool.members)
        return bent

    def _limit_members(self, inputs: IntArray, most_stored: int) -> None:
        """Keep so many expressions that the next binary layer can be stored: the inputs, then those that order best."""
        most = self._most_members(most_stored)
        if len(self.pool.members) > most:
            found = self._screen(None, Target.of(self.y), max(1, most - len(inputs)), dedupe=False)
            self.pool.members = np.union1d(inputs[:most], found.candidates[1])

    def _most_members(self, n_expressions: int) -> int:
        size = 2
        while self.pool.grammar.count("b", size + 1, both_signs=False) <= n_expressions:
            size += 1
        return size

    def _choose_beam(self, inputs: IntArray, bent: IntArray) -> None:
        """The next pool: inputs and their functions, what orders the target or the residual best, and its functions."""
        targets = [Target.of(self.y)]
        if not self.fits.is_exact(self.fits.best):
            targets.append(Target.of(self.y - self.fits.best.predict(self.values)))
        chosen = [inputs, bent]
        tops = []
        for target in targets:
            for dedupe in (True, False):
                rows = self._screen(None, target, _BEAM // 4, dedupe).candidates[1]
                chosen.append(rows)
                tops.append(rows[: _BENT // 4])
        self.pool.members = np.unique(np.concatenate([inputs, *tops]))
        before = len(self.values)
        self.pool.grow(0, self.deadline)
        functions = self.pool.members[self.pool.members >= before]
        order = list(dict.fromkeys(np.concatenate([inputs, *chosen[2:], functions, bent]).tolist()))
        left = max(_FEWEST_SCREENED, self.max_expressions - self.n_screened - _SCREENINGS * before)
        most = min(_BEAM, self._most_members(left // min(2, self.n_terms)))
        self.pool.members = np.sort(order[:most])

    def _rounds(self, letter: str | None) -> None:
        """Screen for the target, then for what models of so many terms leave; fit classes and best subsets."""
        self._fit_classes(self._kept(letter, self.y), self.y, first=True)
        for number in range(2, self.n_terms + 1):
            # A short model that explains less may be the one that lacks only one term.
            models = [model for model in self.fits.front() if len(model.terms) == number - 1]
            for model in models[: _STARTS if letter is None else _STARTS_IN_STREAM]:
                if self.fits.is_exact(self.fits.best) or self._is_spent():
                    return
                residual = self.y - model.predict(self.values)
                rows = self._kept(letter if number == 2 else None, residual)
                self._fit_classes(rows, residual, first=False)
                self._fit_waves(residual)
                self._add_partners(model)
            if letter is None and number == 2:
                self._add_pair()
            self._fit_subset(number)

    def _add_pair(self) -> None:
        """The best sum of two terms, by trying all pairs of powers of inputs and of what is short and explains some."""
        rows = self._best_next_to(np.ones((len(self.y), 1)), _PAIRED)
        powers = [
            term
            for row in self.inputs[: _PAIRED // 50].tolist()
            for term in class_terms(row, self.pool.table, self.values)
            if term.link == "id"
        ]
        terms, columns = self._usable(list(dict.fromkeys([*powers, *(Term((row,), (1.0,)) for row in rows.tolist())])))
        if len(terms) > 1:
            self._add_columns(terms, columns, self._best_subset(columns, 2))

    def _best_subset(self, columns: FloatArray, size: int) -> list[int]:
        weights = None if self.root is None else self.root**2
        return best_subset(columns.T, self.y, size, weights).columns.tolist()

    def _fit_waves(self, residual: FloatArray) -> None:
        """Fit sines of the inputs, with frequency, phase and height, to the target or a residual, and keep them.

        Ranks do not see waves of many periods. Of inputs of which a monotone function fits as well, none are fitted.
        """
        if "sin" not in {operator.name for operator in self.pool.grammar.unary}:
            return
        fits = Fits(residual, len(self.pool.table.inputs), self.root)
        complexity = self.pool.table.complexity
        for row in self.inputs[:_MOST_WAVES].tolist():
            if time.monotonic() > self.deadline:
                return
            waves, columns = self._usable(wave_terms(row, self.values[row], residual, self.root))
            if not waves:
                continue
            monotone, values = self._usable(class_terms(row, self.pool.table, self.values))
            least = Fits(residual, 1, self.root).offer_terms(monotone, values, complexity).min(initial=fits.total)
            for wave, column in zip(waves, columns, strict=True):
                start = min(
                    fits.linear_models([wave], column[None], complexity), key=fits.description_length, default=None
                )
                if start is None or start.rss > _WAVE_AT_MOST * least:
                    continue
                fitted = polish(start, self.values, residual, self.root)
                if residual is self.y:
                    self.fits.offer(fitted)
                self._add_columns(*self._usable(fitted.terms), range(1))

    def _fit_sums_of_powers(self) -> None:
        """Fit expressions a + b for which a power of the target, such as 1/y, is a sum of stored expressions a and b.

        Errors of the power are weighted as those of the target.
        """
        if self.pool.units is not None or not ((self.y > 0).all() or (self.y < 0).all()):
            return
        # Short expressions first: of pairs with the same sum, the best subset is any.
        for power, longest in product(_POWERS_OF_TARGET, (2, np.inf)):
            if self.fits.is_exact(self.fits.best) or self._is_spent():
                return
            target = self.y**power
            root = (1.0 if self.root is None else self.root) / abs(power * self.y ** (power - 1.0))
            members = self.pool.members
            # A constant takes up the 1 of 1 + x.
            short = self.pool.table.complexity[members] <= longest
            self.pool.members = members[short & ~np.isin(self.pool.table.codes[members], _WITH_ONE)]
            rows = self._best_next_to(np.ones((len(self.y), 1)), _PAIRED, target, root)
            self.pool.members = members
            rows = rows[finite(self.values[rows])]
            if len(rows) > 1:
                weights = (root / root.max()) ** 2
                pair = rows[best_subset(self.values[rows].T, target, 2, weights).columns]
                for ratio in self._ratios(pair, target, root):
                    row = self._sum(int(pair[0]), int(pair[1]), ratio)
                    self._fit_classes(np.array([row]), self.y, first=True)

    def _ratios(self, pair: IntArray, target: FloatArray, root: FloatArray) -> list[float]:
        """Ratios, of those that can be written as a sum, that the coefficients of two expressions have, about."""
        design = np.column_stack([*self.values[pair], np.ones(len(target))]) * root[:, None]
        found = set()
        for width in (3, 2):  # with and without a constant
            coef = np.linalg.lstsq(design[:, :width], target * root, rcond=None)[0]
            ratio = coef[1] / coef[0] if coef[0] else np.inf
            nearest = min(_RATIOS, key=lambda wanted: abs(ratio / wanted - 1))
            if abs(ratio / nearest - 1) < _NEAR_RATIO:
                found.add(nearest)
        return sorted(found)

    def _sum(self, first: int, second: int, ratio: float) -> int:
        """The row of first + ratio * second, or a multiple of it; it is stored."""

        def kept(name: str, left: int, right: int) -> int:
            codes = np.array([BINARY[name].code])
            (row,) = self.pool.keep((codes, np.array([left]), np.array([right])))
            self.pool.members = np.union1d(self.pool.members, [row])
            return int(row)

        if abs(ratio) == 2:
            second = kept("+", second, second)
        elif abs(ratio) == 0.5:
            first = kept("+", first, first)
        return kept("+" if ratio > 0 else "-", first, second)

    def _add_partners(self, model: Model) -> None:
        """The expressions that explain most next to the terms of a model."""
        terms, columns = self._usable(model.terms)
        design = np.column_stack([np.ones(len(self.y)), *(column / abs(column).max() for column in columns)])
        rows = self._best_next_to(design, _PARTNERS)
        added, values = self._usable([Term((row,), (1.0,)) for row in rows.tolist()])
        self._add_columns([*terms, *added], np.concatenate([columns, values]), range(len(terms) + len(added)))

    def _best_next_to(
        self, design: FloatArray, k: int, y: FloatArray | None = None, root: FloatArray | None = None
    ) -> IntArray:
        """Stored expressions by what they explain in addition to a few columns, and by their length."""
        y, root = (self.y, self.root) if y is None else (y, root)
        if root is not None:
            design, y = design * root[:, None], y * root
        span = np.linalg.qr(design)[0]
        rows = self.pool.members
        values = self.values[rows] / np.abs(self.values[rows]).max(axis=1)[:, None]
        if root is not None:
            values *= root
        before = np.einsum("ij,ij->i", values, values)
        values -= (values @ span) @ span.T
        length = np.einsum("ij,ij->i", values, values)
        left = y - span @ (span.T @ y)
        known = length > 1e-10 * before
        explained = np.divide((values @ left) ** 2, length, out=np.zeros(len(rows)), where=known)
        missed = (left @ left - explained).clip(min=1e-12 * (left @ left) + 1e-300)
        description = 0.5 * len(left) * np.log(missed) + self.fits.cost * self.pool.table.complexity[rows]
        return rows[np.argsort(np.where(known, description, np.inf), kind="stable")[:k]]

    def _add_columns(self, terms: Sequence[Term], columns: FloatArray, chosen: Iterable[int]) -> None:
        """Offer terms to the next search for a best subset, which takes the latest."""
        for i in chosen:
            self.columns.pop(terms[i], None)
            self.columns[terms[i]] = columns[i]

    def _kept(self, letter: str | None, residual: FloatArray) -> IntArray:
        """The expressions that order a residual best, one per class; those of a stream are stored."""
        found = self._screen(letter, Target.of(residual), _CLASSES)
        rows = self.pool.keep(found.candidates)
        self.pool.members = np.union1d(self.pool.members, rows)
        return rows

    def _fit_single(self, rows: IntArray) -> None:
        terms = [term for row in rows.tolist() for term in class_terms(row, self.pool.table, self.values)]
        self._offer(terms, self.fits)
        self._fit_constants(rows[:_WITH_CONSTANTS], len(LINKS))

    def _fit_linear(self) -> None:
        """Fit the best linear models of the inputs, for every number of them."""
        terms, columns = self._usable([Term((row,), (1.0,)) for row in self.inputs[:_MOST_COLUMNS].tolist()])
        for size in range(1, min(self.n_terms, len(terms)) + 1):
            if comb(len(terms), size) <= _MOST_SUBSETS:
                chosen = self._best_subset(columns, size)
                self.fits.offer_linear([terms[i] for i in chosen], columns[chosen], self.pool.table.complexity)

    def _fit_constants(self, rows: IntArray, n_links: int) -> None:
        """Fit constants inside functions of the expressions, from the best start of each of a few functions."""
        most = _PROMISING * self.fits.best.rss
        for row in rows.tolist():
            if time.monotonic() > self.deadline:
                return
            terms, columns = self._usable(shifted_terms(row, self.values[row]))
            if not terms:
                continue
            rss = Fits(self.y, 1, self.root).offer_terms(terms, columns, self.pool.table.complexity)
            starts: dict[str, int] = {}
            for i in np.argsort(rss, kind="stable").tolist():
                starts.setdefault(terms[i].link, i)
            for i in list(starts.values())[:n_links]:
                if rss[i] > most:
                    break
                for start in self.fits.linear_models([terms[i]], columns[[i]], self.pool.table.complexity):
                    self.fits.offer(polish(start, self.values, self.y, self.root))

    def _fit_classes(self, rows: IntArray, residual: FloatArray, first: bool) -> None:
        """Fit all members of the classes to the target or a residual, and keep the best for models of more terms."""
        fits = self.fits if first else Fits(residual, len(self.pool.table.inputs), self.root)
        if first:
            self._fit_constants(rows[:_WITH_CONSTANTS], 2)
        groups = [class_terms(row, self.pool.table, self.values) for row in dict.fromkeys(rows.tolist())]
        terms, columns = self._usable([term for group in groups for term in group])
        if not terms:
            return
        rss = fits.offer_terms(terms, columns, self.pool.table.complexity)
        owner = [term.rows for term in terms]
        # A model of several terms gets the expressions themselves, and the functions of them that fit best alone.
        best: dict[tuple[int, ...], list[int]] = {}
        for i in np.argsort(rss, kind="stable").tolist():
            best.setdefault(owner[i], []).append(i)
        good = [i for members in best.values() for i in members[:_MEMBERS]]
        plain = [i for i, term in enumerate(terms) if term.link == "id" and term.exponents == (1.0,)]
        self._add_columns(terms, columns, dict.fromkeys([*good, *plain]))

    def _fit_subset(self, size: int) -> None:
        if len(self.columns) < size:
            return
        most = _MOST_COLUMNS
        while comb(most, size) > _MOST_SUBSETS:
            most -= 1
        terms = list(self.columns)[-most:]
        columns = np.array([self.columns[term] for term in terms])
        chosen = self._best_subset(columns, size)
        self.fits.offer_linear([terms[i] for i in chosen], columns[chosen], self.pool.table.complexity)

    def _replace_terms(self) -> None:
        """Leave out each term of the best models in turn, and screen for what the others leave."""
        for size in range(2, self.n_terms + 1):
            models = [model for model in self.fits.models.values() if len(model.terms) == size]
            if not models or self.fits.is_exact(self.fits.best) or self._is_spent():
                continue
            model = min(models, key=lambda model: model.rss)
            for place in range(size):
                others = [term for i, term in enumerate(model.terms) if i != place]
                _, columns = self._usable(others)
                rest = self.fits.offer_linear(others, columns, self.pool.table.complexity)
                if rest is not None:
                    residual = self.y - rest.predict(self.values)
                    found = self._screen(None, Target.of(residual), _CLASSES)
                    self._fit_classes(found.candidates[1], residual, first=False)
            self._fit_subset(size)

    def _fit_products(self, rows: IntArray) -> None:
        cost = (self.fits.cost * self.pool.table.complexity).astype(np.float64)
        self._offer(product_terms(self.values, self.inputs, rows, self.y, cost, _PRODUCTS, self.root), self.fits)

    def _offer(self, terms: Sequence[Term], fits: Fits) -> None:
        usable, columns = self._usable(terms)
        if usable:
            fits.offer_terms(usable, columns, self.pool.table.complexity)

    def _usable(self, terms: Sequence[Term]) -> tuple[list[Term], FloatArray]:
        """Terms that are finite, not constant, and sensible by their units, with their values."""
        terms = [term for term in terms if self._has_sense(term)]
        if not terms:
            return [], np.empty((0, len(self.y)))
        columns = np.array([term.values(self.values) for term in terms])
        good = finite(columns)
        return [term for term, ok in zip(terms, good, strict=True) if ok], columns[good]

    def _has_sense(self, term: Term) -> bool:
        if self.pool.units is None:
            return True
        units = np.asarray(term.exponents) @ self.pool.units[list(term.rows)]
        if term.link != "id" and abs(units).max() > 1e-9:
            return False
        return self.target_units is None or bool((abs(units - self.target_units) < 1e-9).all())

    def _polish(self) -> None:
        """Fit the constants inside the functions of the best models together with the others."""
        ranked = sorted(self.fits.models.values(), key=self.fits.description_length)
        for model in ranked[:_POLISHED]:
            if model not in self.polished and any(term.free for term in model.terms):
                better = polish(model, self.values, self.y, self.root)
                self.polished |= {model, better}
                self.fits.offer(better)
