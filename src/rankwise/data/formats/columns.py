"""Columns of text that hold each different cell once: a survey repeats few answers in many rows.

`rankwise.data.formats.text.Table` is made of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: places among the different cells of a column
Codes: TypeAlias = npt.NDArray[np.int32]


class Column:
    """The cells of a column: the different ones in order of appearance, and for every row which of them it holds.

    Parameters
    ----------
    distinct : list of str
        The different cells, in order of appearance.
    codes : ndarray of int32, shape (n_rows,)
        For every row the place of its cell among them.

    Attributes
    ----------
    distinct, codes
        As given.

    Examples
    --------
    >>> from rankwise.data.formats.columns import Column
    >>> column = Column.of(["tea", "milk", "tea"])
    >>> column.distinct, column.codes.tolist(), column.cells
    (['tea', 'milk'], [0, 1, 0], ['tea', 'milk', 'tea'])
    """

    distinct: list[str]
    codes: Codes

    def __init__(self, distinct: list[str], codes: Codes) -> None:
        self.distinct = distinct
        self.codes = codes

    @classmethod
    def of(cls, cells: Sequence[str]) -> Column:
        """The column that holds these cells, row by row."""
        code_of = {cell: code for code, cell in enumerate(dict.fromkeys(cells))}
        codes: Codes = np.fromiter(map(code_of.__getitem__, cells), dtype=np.int32, count=len(cells))
        return cls(list(code_of), codes)

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def cells(self) -> list[str]:
        """The cell of every row."""
        return list(self.pick(self.distinct))

    def pick(self, values: Iterable[object]) -> npt.NDArray[np.object_]:
        """For every row the one of the values that stands where its cell stands among the different cells."""
        one_each: npt.NDArray[np.object_] = np.empty(len(self.distinct), dtype=object)
        one_each[:] = list(values)
        return one_each[self.codes]

    def map(self, change: Callable[[str], str]) -> Column:
        """The column with changed cells."""
        changed = Column.of([change(cell) for cell in self.distinct])
        return Column(changed.distinct, changed.codes[self.codes])

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Column:
        """The column of these rows, or of those that a mask marks."""
        kept = self.codes[rows]
        occurring, first, codes = np.unique(kept, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place: Codes = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return Column([self.distinct[code] for code in occurring[order]], place[codes])

    def first_row(self, fits: Callable[[str], object]) -> int | None:
        """The first row whose cell fits; None if there is none."""
        code = next((code for code, cell in enumerate(self.distinct) if fits(cell)), None)
        # Cells stand in order of appearance, so the first that fits is also the first to appear.
        return None if code is None else int(np.argmax(self.codes == code))
