"""The end of a search: its best models fitted to all rows, the formula chosen among them, and the rivals of this one.

`SymbolicRegressor` and `screen_expressions` call `final_formulas`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwise._typing import FloatArray
from rankwise.screening.expansions import shorter_models
from rankwise.screening.fits import Fits, Model, clearly_better, left_out_errors, polish, simplified
from rankwise.screening.formulas import SymbolicFormula
from rankwise.screening.search import Search
from rankwise.screening.terms import Term

# Models that are fitted to all rows in the end, besides the front.
_REFITTED = 20
# Rivals of models whose length is that of the best, up to so much, which simplification may take away, are refitted.
_NEAR_IN_LENGTH = 3
# A model is not chosen if one longer by at most so much has a mean squared error of rows left out that is clearly less.
_ABOUT_AS_SHORT, _MUCH_LARGER = 1, 1.1
# That is asked of models that leave more than this share of the variance; others are good enough to be short.
_POOR = 0.01
# Of fewer rows, those left out say too little to speak against a model.
_FEWEST_TOLD = 6


def final_formulas(
    search: Search, inputs: FloatArray, y: FloatArray, root: FloatArray | None = None
) -> tuple[list[SymbolicFormula], int, list[SymbolicFormula]]:
    """The best models as formulas, simplified and fitted to all rows; the place of the one chosen; its rivals."""
    near = [
        model
        for (complexity, _), models in search.fits.rivals.items()
        if abs(complexity - search.fits.best.complexity) <= _NEAR_IN_LENGTH
        for model in models
    ]
    ranked = [sorted(some, key=search.fits.description_length) for some in (search.fits.models.values(), near)]
    models: dict[Model, None] = {}
    for model in dict.fromkeys([*search.fits.front(), *ranked[0][:_REFITTED], *ranked[1][:_REFITTED]]):
        if model.terms:
            models.update(dict.fromkeys(_simple_forms(search, model)))
    rows = np.array(sorted({row for model in models for term in model.terms for row in term.rows}), dtype=np.intp)
    table, place = search.pool.table.only(rows)
    values = np.ascontiguousarray(table.evaluate(inputs, np.arange(len(table))).T)
    fits = Fits(y, inputs.shape[1], root)
    for model in models:
        terms = [term.moved(place) for term in model.terms]
        columns = np.array([term.values(values) for term in terms])
        if np.isfinite(columns).all():  # else not defined on rows that were not in the sample
            for fitted in fits.linear_models(terms, columns, table.complexity):
                fits.offer(fitted)
                fits.offer(polish(fitted, values, y, root))
    front, chosen = _chosen(fits, values)
    made = [SymbolicFormula.of(model, table, values, y, root) for model in (*front, *_rivals(fits, chosen, values))]
    return made[: len(front)], front.index(chosen), made[len(front) :]


def _simple_forms(search: Search, model: Model) -> list[Model]:
    """The model simplified, or multiplied out where that is not longer and fits as well; and shorter parts of this."""
    table, values, fits = search.pool.table, search.values, search.fits
    short = simplified(model, table, values)
    others = shorter_models(short, fits, table, values, search.n_terms)
    as_good = max(short.rss * (1 + 1e-9), fits.rounding)
    replaced = any(other.rss <= as_good and fits.has_rows_for(other) for other in others)
    return others if replaced else [short, *others]


def formula_of(search: Search, model: Model) -> SymbolicFormula:
    """A model of the search as a formula, with its errors on the rows that were screened."""
    table, place = search.pool.table.only(np.array([row for term in model.terms for row in term.rows], dtype=np.intp))
    moved = replace(model, terms=tuple(term.moved(place) for term in model.terms))
    values = search.values[np.union1d(np.arange(len(table.inputs)), np.flatnonzero(place))]
    return SymbolicFormula.of(moved, table, values, search.y, search.root)


def _chosen(fits: Fits, values: FloatArray) -> tuple[list[Model], Model]:
    """The front, and the shortest of its models that is not clearly worse than that with the shortest description.

    Both are sought among the models that rows left out speak for: they beat the mean, and no model of the front that is
    as short, or about as short where they fit poorly, has a smaller error.
    """
    front = fits.front()
    found: dict[Model, FloatArray] = {}

    def errors(model: Model) -> FloatArray:
        if model not in found:
            found[model] = left_out_errors(model, values, fits.y, fits.root)
        return found[model]

    def size(model: Model) -> float:
        """The mean squared error of rows left out, of which rounding errors are no part."""
        return max(float((errors(model) ** 2).mean()), 10**2 * fits.rounding / len(fits.y))

    mean = size(fits.mean)

    def holds(model: Model) -> bool:
        if len(fits.y) < _FEWEST_TOLD:
            return size(model) <= mean
        longest = model.complexity + _ABOUT_AS_SHORT * (size(model) > _POOR * mean)
        others = [other for other in front if other.complexity <= longest]
        much = [1.0 if other.complexity <= model.complexity else _MUCH_LARGER for other in others]
        return size(model) <= mean and all(
            size(model) <= factor * size(other) for other, factor in zip(others, much, strict=True)
        )

    ranked = sorted(fits.models.values(), key=fits.description_length)
    best = next((model for model in ranked if holds(model)), min(front, key=size))
    if best not in front:
        front = sorted([*front, best], key=lambda model: (model.complexity, -model.rss))
    for model in front:
        if model is best or (holds(model) and not clearly_better(errors(best), errors(model))):
            return front, model
    return front, best


def _rivals(fits: Fits, chosen: Model, values: FloatArray) -> list[Model]:
    """Other functions as long as the model chosen, whose errors of rows left out are within a standard error of its."""
    squares = left_out_errors(chosen, values, fits.y, fits.root) ** 2
    mean = left_out_errors(fits.mean, values, fits.y, fits.root) ** 2
    most = min(squares.mean() + squares.std(ddof=1) / np.sqrt(len(squares)), mean.mean())
    found: list[tuple[float, Model]] = []
    forms, known = {_form(chosen)}, [chosen.predict(values)]
    others = {model for models in fits.rivals.values() for model in models if model.complexity == chosen.complexity}
    for model in sorted(others - {chosen}, key=lambda model: model.rss):
        error = float((left_out_errors(model, values, fits.y, fits.root) ** 2).mean())
        predicted = model.predict(values)
        differs = all(abs(predicted - other).max() > 1e-6 * np.ptp(fits.y) for other in known)
        if model.terms and error <= most and differs and _form(model) not in forms:
            found.append((error, model))
            forms.add(_form(model))
            known.append(predicted)
    return [model for _, model in sorted(found, key=lambda pair: pair[0])]


def _form(model: Model) -> frozenset[Term]:
    """What is left of a model without its fitted constants."""
    return frozenset(term.with_constants([0.5] * len(term.free)) for term in model.terms)
