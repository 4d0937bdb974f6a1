"""The error that file readers raise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from rankwise._tables import visible


class RankwiseFormatError(ValueError):
    """Raised if the content of a file is not valid.

    Parameters
    ----------
    problem : str
        What is wrong.
    path : path-like, optional
        The file.
    line, column : int, optional
        Where, counted from 1. ``column`` counts fields of the line, not characters.
    cure : str, optional
        How to fix it.
    choices : sequence of dict, optional
        Where the file can be read in several ways: the arguments of `read_rankings` for each of them.

    Attributes
    ----------
    problem, path, line, column, cure
        As given.
    choices : list of dict
        As given; empty where there is nothing to choose from.

    Examples
    --------
    >>> from rankwise import RankwiseFormatError
    >>> raise RankwiseFormatError("item 9 is not declared", path="a.soc", line=4, cure="Items are 1 to 5.")
    Traceback (most recent call last):
        ...
    rankwise.exceptions.RankwiseFormatError: a.soc, line 4: item 9 is not declared. Items are 1 to 5.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
        cure: str | None = None,
        choices: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.problem = problem.rstrip(".")
        self.path = None if path is None else _text_of(path)
        self.line = line
        self.column = column
        self.cure = cure
        self.choices = [dict(choice) for choice in choices]
        super().__init__(str(self))

    def __str__(self) -> str:
        place = [self.path] if self.path is not None else []
        place += [f"line {self.line}"] if self.line is not None else []
        place += [f"column {self.column}"] if self.column is not None else []
        text = f"{', '.join(place)}: {self.problem}" if place else self.problem
        return visible(f"{text}. {self.cure}" if self.cure else text)

    def __reduce__(self) -> tuple[object, ...]:
        # By default exceptions are pickled by their positional arguments alone.
        return (_rebuild, (self.problem, self.path, self.line, self.column, self.cure, self.choices))


def _text_of(path: object) -> str:
    """Any path as text; an error message must not fail because of an unusual path."""
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else repr(path)


def _rebuild(
    problem: str,
    path: str | None,
    line: int | None,
    column: int | None,
    cure: str | None,
    choices: list[dict[str, Any]],
) -> RankwiseFormatError:
    return RankwiseFormatError(problem, path=path, line=line, column=column, cure=cure, choices=choices)
