"""What a reproduced table or figure is: cells to compute, what the paper says of them, claims, pictures.

An experiment is plain data and four functions. `runner` computes its cells once, stores them and continues after an
interruption; `page` shows them. A module of an experiment says only what the paper's experiment is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]

#: how much is computed: as in the paper, in minutes, or just enough to check the claims
Scale = Literal["full", "quick", "check"]

#: one unit of work: what to compute, as JSON would hold it (kind of noise, level, seed, ...)
Cell = dict[str, Any]

#: what a cell gave: numbers, or lists of numbers, by name
Values = dict[str, Any]

#: "too small to judge": the run is smaller than the paper's, or its errors are too large for the tolerance;
#: "not compared": the paper has a figure, but it is not at hand or of other data
Verdict = Literal[
    "agrees",
    "agrees after a correction",
    "differs",
    "too small to judge",
    "not compared",
    "not in the paper",
    "not run",
]


@dataclass(frozen=True)
class Inputs:
    """Data that do not come with the package.

    Attributes
    ----------
    data : Path or None
        Folder of benchmark data, with ``label-ranking/`` and the like in it.
    sushi : Path or None
        Folder of the sushi data, which may not be passed on.
    letor : Path or None
        Folder with ``train.txt``, ``vali.txt`` and ``test.txt`` in the LETOR format.
    """

    data: Path | None = None
    sushi: Path | None = None
    letor: Path | None = None


@dataclass(frozen=True)
class Comparison:
    """A figure of the paper next to ours.

    Attributes
    ----------
    quantity : str
        What was measured, e.g. ``"honest forest, tau at alpha = 0.5"``.
    published : float, str or None
        The paper's value; a text where it was read off a figure; None where the paper has none.
    ours : float or str
        Our value.
    error : float or None
        Its standard error.
    verdict : str
        Whether they agree.
    reason : str
        Why they differ, or what had to be corrected; needed unless they agree.
    """

    quantity: str
    published: float | str | None
    ours: float | str
    error: float | None = None
    verdict: Verdict = "agrees"
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement that our run confirms or refutes, with the numbers that say so.

    Attributes
    ----------
    text : str
        The statement.
    holds : bool or None
        Whether it holds; None if the run is too small to judge. `Outcome.of` sets it to None below the full scale,
        unless the experiment is judged at any scale.
    evidence : str
        Our numbers.
    of : {"paper", "rankwise"}
        Who says so: the paper, or we (a correction, or something that we observed).
    known : str
        Why a statement of the paper that our run refutes is known to fail; the page of the paper lists it.
    """

    text: str
    holds: bool | None
    evidence: str
    of: Literal["paper", "rankwise"] = "paper"
    known: str = ""


class Results:
    """Finished cells, to be selected by their settings.

    Attributes
    ----------
    left_out : dict
        From the reason why cells could not be computed, a package that is missing, to their number.
    n_others : int
        Stored cells that are of no scale: of data that were not given now, or of an earlier version.
    """

    def __init__(
        self, finished: Sequence[tuple[Cell, Values]], left_out: Mapping[str, int] | None = None, n_others: int = 0
    ) -> None:
        self._finished = list(finished)
        self.left_out = dict(left_out or {})
        self.n_others = n_others

    def __len__(self) -> int:
        return len(self._finished)

    def __iter__(self) -> Iterator[tuple[Cell, Values]]:
        return iter(self._finished)

    def select(self, **settings: Any) -> Results:
        """The cells with these settings."""
        return Results([(cell, values) for cell, values in self if settings.items() <= cell.items()], self.left_out)

    def settings(self, name: str) -> list[Any]:
        """The distinct values of a setting, in the order of the cells."""
        return list(dict.fromkeys(cell[name] for cell, _ in self if name in cell))

    def values(self, name: str) -> np.ndarray[Any, Any]:
        """What the cells gave by that name, one row per cell."""
        return np.array([values[name] for _, values in self if name in values], dtype=float)

    def mean(self, name: str) -> float:
        """The mean over the cells; NaN if there are none."""
        found = self.values(name)
        return float(found.mean()) if found.size else float("nan")

    def error(self, name: str) -> float:
        """The standard error of that mean; NaN if there are fewer than two cells."""
        found = self.values(name)
        return float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")


def _nothing(results: Results) -> list[Any]:
    return []


@dataclass(frozen=True)
class Experiment:
    """A table, figure or theorem of a paper.

    Attributes
    ----------
    id : str
        ``<paper>/<what>``, e.g. ``label-ranking/figure-1``.
    title : str
        One line for lists.
    about : str
        What the paper does there, what we do, and what differs, in a paragraph or two of plain text.
    cells : callable
        From a scale and the inputs to the cells. Cells are small (seconds each in the quick scale), independent of
        each other, and hold their own seed. Those of a smaller scale are best among those of a larger one, so that
        they need not be computed again. They do not depend on what is installed: a cell that needs a package which is
        missing is left out by name, and a stored one is used.
    compute : callable
        From a cell and the inputs to its values. A module-level function, since processes share the work.
    compare : callable
        From the results to rows of figures next to the paper's.
    claims : callable
        From the results to claims, those of the paper that our run refutes among them. They are judged at the full
        scale only, or see `any_scale`; tests run the smallest, where they should come out the same.
    pictures : mapping
        From a name to a function that draws the results on a Matplotlib figure, whose size it may change.
    needs : tuple of str
        Names of the inputs that must be given, e.g. ``("data",)``.
    cells_from_data : bool
        Whether these inputs decide which cells there are. If not, stored cells count without them.
    timed : bool
        Whether cells measure time, so that they must run alone.
    timings : tuple of str
        Names of values that are times, which differ from run to run.
    tolerance : float
        By how much a value may differ, relative and absolute, when a stored cell is computed again.
    fraction : str
        What part of the paper's experiment the full scale is, where the whole would cost too much, e.g.
        ``"12 of 20 noise levels"``.
    any_scale : bool
        Whether every scale is judged: worked examples, identities and the like, where the paper has no size and a
        smaller run says the same.
    """

    id: str
    title: str
    about: str
    cells: Callable[[Scale, Inputs], list[Cell]]
    compute: Callable[[Cell, Inputs], Values]
    compare: Callable[[Results], list[Comparison]] = _nothing
    claims: Callable[[Results], list[Claim]] = _nothing
    pictures: Mapping[str, Callable[[Results, Any], None]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    cells_from_data: bool = True
    timed: bool = False
    timings: tuple[str, ...] = ()
    tolerance: float = 1e-9
    fraction: str = ""
    any_scale: bool = False

    @property
    def paper(self) -> str:
        """The short name of the paper, the first part of the id."""
        return self.id.split("/")[0]


def key_of(cell: Cell) -> str:
    """The text by which a cell is stored."""
    return json.dumps(cell, sort_keys=True)


def kind_of(cell: Cell) -> tuple[tuple[str, str], ...]:
    """The settings of a cell that are text: cells of one kind do the same, with other sizes and seeds."""
    return tuple(sorted((name, value) for name, value in cell.items() if isinstance(value, str)))
