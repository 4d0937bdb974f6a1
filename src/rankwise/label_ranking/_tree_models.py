"""People of a `PlackettLuceTree` and the Plackett-Luce models of some of them, with the pseudo-rankings they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwise._typing import FloatArray, IntArray
from rankwise._validation import weights_count_people
from rankwise.aggregation import PlackettLuce, preference_matrix
from rankwise.data import Rankings


class Model(NamedTuple):
    """A Plackett-Luce model of some people; the log likelihood leaves out the pseudo-rankings."""

    fitted: PlackettLuce
    log_likelihood: float


@dataclass(frozen=True)
class People:
    """Rankings and the people who made them. The last item is hypothetical, and the last rows compare it."""

    X: FloatArray
    rankings: Rankings
    rows_of: IntArray  # rows, person by person
    start: IntArray
    weight: FloatArray  # of people: the mean of their rankings
    size: FloatArray  # how many people each counts for
    is_counted: bool
    has_several: bool
    n_items: int
    n_pseudo: int

    @classmethod
    def build(cls, X: FloatArray, person: IntArray, y: Rankings, pseudo: float) -> People:
        k = y.n_items
        positions, weights = y.positions, y.weights
        n_pseudo = 0
        if pseudo > 0:
            against = np.full((2 * k, k + 1), np.nan)
            item = np.arange(k)
            against[item, item], against[item, k] = 1.0, 2.0
            against[k + item, item], against[k + item, k] = 2.0, 1.0
            positions = np.vstack([np.column_stack([positions, np.full(len(y), np.nan)]), against])
            weights = np.append(weights, np.full(2 * k, pseudo))
            n_pseudo = 2 * k
        count = np.bincount(person, minlength=len(X))
        weight = np.bincount(person, y.weights, len(X)) / count
        is_counted = weights_count_people(y.weights)
        return cls(
            X,
            Rankings(positions, weights=weights),
            np.argsort(person, kind="stable"),
            np.concatenate([[0], np.cumsum(count)]),
            weight,
            weight if is_counted else np.ones(len(X)),
            is_counted,
            bool(count.max() > 1),
            k,
            n_pseudo,
        )

    def rows(self, people: IntArray) -> tuple[IntArray, IntArray]:
        """Rankings of some people, and the number of each among these people."""
        if not self.has_several:
            return people, np.arange(len(people))
        counts = self.start[people + 1] - self.start[people]
        of = np.repeat(np.arange(len(people)), counts)
        place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.rows_of[self.start[people][of] + place], of

    def fit(self, people: IntArray, *, sure: bool = False) -> Model | None:
        """The model of some people; None if it does not exist, unless it must."""
        rows, _ = self.rows(people)
        n = len(self.rankings)
        part = self.rankings[np.append(rows, np.arange(n - self.n_pseudo, n))]
        try:
            fitted = PlackettLuce(weight_kind="counts").fit(part)  # `worths` makes robust errors itself
        except ValueError:
            if sure:
                raise
            return None
        pseudo = part[len(rows) :]
        value = fitted.log_likelihood_
        if self.n_pseudo:
            value -= float(pseudo.weights @ fitted.logpmf(pseudo))
        return Model(fitted, value)

    def scores(self, people: IntArray, model: Model) -> FloatArray:
        """Mean score of each person, so that their weight counts once."""
        rows, of = self.rows(people)
        scores = model.fitted.scores(self.rankings[rows])
        if not self.has_several:
            return scores
        total = np.zeros((len(people), scores.shape[1]))
        np.add.at(total, of, self.rankings.weights[rows, None] * scores)
        return total / self.weight[people, None]

    def worths(self, people: IntArray, model: Model) -> tuple[FloatArray, FloatArray]:
        """Log worths of mean 0, and their standard errors."""
        k, fitted = self.n_items, model.fitted
        worth = fitted.log_worth_[:k] - fitted.log_worth_[:k].mean()
        if fitted.covariance_ is None:
            return worth, np.full(k, np.nan)
        covariance = fitted.covariance_
        if not self.is_counted or self.has_several:
            scores = self.weight[people, None] * self.scores(people, model)[:, : len(covariance)]
            covariance = covariance @ (scores.T @ scores) @ covariance
        covariance = covariance[:k, :k]
        center = np.eye(k) - 1 / k
        return worth, np.sqrt(np.maximum((center @ covariance @ center).diagonal(), 0.0))

    def agreed_orders(self, people: IntArray, model: Model) -> list[list[IntArray]]:
        """Parts of the items that some people compare; of each the groups, best first, whose order none contradicts.

        How far the worths of two parts or two such groups are apart, the rankings do not say: the likelihood does not
        change with it, or rises without bound.
        """
        from scipy.sparse.csgraph import connected_components

        k = self.n_items
        matrix = preference_matrix(Rankings(self.rankings.positions[self.rows(people)[0], :k]))
        compared = matrix.wins + matrix.ties > 0
        worth = model.fitted.log_worth_[:k]
        n_groups, group = connected_components(compared, connection="strong")
        groups = sorted((np.flatnonzero(group == g) for g in range(n_groups)), key=lambda items: -worth[items].mean())
        n_parts, part = connected_components(compared, connection="weak")
        return [[items for items in groups if part[items[0]] == number] for number in range(n_parts)]
