"""`Survey`: rankings with what else is known about those who ranked, each column in its role.

`read_survey` makes one of a file; the command line, `rankwise.analyze` and the reports show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankwise._tables import Result, TextTable, counted, short_name
from rankwise._typing import FloatArray, IntArray
from rankwise._validation import is_unknown_label
from rankwise.data.formats.data_check import DataCheck
from rankwise.data.formats.ordered_texts import ordered_levels
from rankwise.data.formats.reading import Reading, shell_words
from rankwise.data.formats.roles import SEVERAL_EACH, Role
from rankwise.data.formats.tables import Covariates
from rankwise.data.formats.text import shown
from rankwise.data.rankings import Rankings

#: a group of those who left the column of the groups blank
NO_GROUP = "(blank)"
_SHOWN_COLUMNS, _FEW_COLUMNS = 12, 5


@dataclass(frozen=True, eq=False, repr=False)
class Survey(Result):
    """Rankings of respondents, and what else is known about them; made by `read_survey`.

    Attributes
    ----------
    rankings : Rankings
        The rankings of those who ranked something, with their weights.
    X : dict of str to ndarray
        The features by the names of their columns: float64 with NaN, or text with None where missing.
    categorical : tuple of str
        Features that hold categories.
    ordered : dict of str to list of str
        Those whose categories have an order, from low to high.
    id, names, by : ndarray or None
        The ids of the respondents, their names, and the groups by which results are shown side by side.
    scores : ndarray of shape (n_rankings, n_items) or None
        The scores that the rankings were made from, NaN where blank; None for a file of places.
    by_name : str
        The column of the groups, as it is shown; empty if there are no groups.
    questions : dict of str to str
        The question of each column, where the file has it.
    roles : dict of str to Role
        What each column besides the rankings is, and why.
    reading : Reading or None
        How the file was understood; None for built-in data.
    rows : ndarray of int or None
        The row of each ranking among those of the file, from 0; None for built-in data.
    n_empty : int
        Respondents who ranked nothing, as many as their weights say if these count people; they are set apart, and not
        among the rankings.
    check : DataCheck
        What should be looked at.
    name : str
        What the data are called.
    more_notes : tuple of str
        What else the user should know.
    """

    rankings: Rankings
    X: Covariates = field(default_factory=dict)
    categorical: tuple[str, ...] = ()
    ordered: Mapping[str, list[str]] = field(default_factory=dict)
    id: npt.NDArray[Any] | None = None
    names: npt.NDArray[Any] | None = None
    scores: FloatArray | None = None
    by: npt.NDArray[Any] | None = None
    by_name: str = ""
    questions: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Role] = field(default_factory=dict)
    reading: Reading | None = None
    rows: IntArray | None = None
    n_empty: int = 0
    check: DataCheck = field(default_factory=lambda: DataCheck(0, {}))
    name: str = ""
    more_notes: tuple[str, ...] = ()

    @cached_property
    def feature_names(self) -> list[str]:
        """The features as they are shown: by their questions where the file has these, else by their columns."""
        return shown_names(self.X, self.questions)

    @property
    def categorical_features(self) -> dict[str, list[str] | None] | None:
        """The features that hold categories, with their order where they have one, as rankers take them."""
        return {name: self.ordered.get(name) for name in self.categorical} or None

    @property
    def ignored(self) -> dict[str, Role]:
        """The columns that are not used for anything."""
        used = ("feature", "group", "name", "id")
        return {
            column: role
            for column, role in self.roles.items()
            if role.role not in used and (self.reading is None or column != self.reading.weights)
        }

    @property
    def cautions(self) -> list[str]:
        """What every result should say of the rows: who is set apart, and who may count twice or not at all."""
        cautions = [f"{counted(self.n_empty, 'respondent')} ranked nothing, set apart"] if self.n_empty else []
        repeated, previews = self.check["same_id"].count, self.check["previews"].count
        if repeated:
            have = "row has" if repeated == 1 else "rows have"
            is_task = self.reading is not None and self.reading.layout in SEVERAL_EACH
            one_each = "; to count the last one of each only, give keep='last'"
            one_each = shell_words(one_each) if self.reading is not None and self.reading.in_shell else one_each
            named = {own.reason == "by request": name for name, own in self.roles.items() if own.role == "id"}
            column = f" in {shown(named.get(True, named.get(False, '')))}" if named else ""
            if is_task:
                one_each = " as a person of its own: people answer several tasks each, so intervals are too narrow"
            cautions.append(f"{repeated:,} {have} the id{column} of an earlier row, and every row counts{one_each}")
        if previews:
            are = "row is a preview" if previews == 1 else "rows are previews"
            cautions.append(f"{previews:,} {are} of the survey, not of respondents, and every row counts")
        return cautions

    @property
    def notes(self) -> list[str]:
        """What a reader of results should know about the data: sentences."""
        notes = [*self.more_notes, *self.cautions]
        by_role: dict[str, list[str]] = {}
        for column, role in self.roles.items():
            if column in self.ignored or role.role in ("id", "name"):
                by_role.setdefault(role.role, []).append(column)
        if by_role:
            kinds = [f"{_some(columns, _FEW_COLUMNS)} ({role})" for role, columns in by_role.items()]
            notes.append(f"not used as features: {', '.join(kinds)}")
        return notes

    def groups(self) -> dict[str, IntArray]:
        """The rows of each group, by the label of the group; empty without groups."""
        if self.by is None:
            return {}
        texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in self.by]
        labels = np.where([is_unknown_label(value) for value in self.by], NO_GROUP, texts)
        order = ordered_levels(set(labels.tolist()) - {NO_GROUP}) or []
        order += sorted(set(labels.tolist()).difference(order, [NO_GROUP]), key=_number_or_text)
        return {label: rows for label in [*order, NO_GROUP] if len(rows := np.flatnonzero(labels == label))}

    def as_dict(self) -> dict[str, Any]:
        """How the file was understood, for JSON."""
        reading = self.reading
        understood = {}
        if reading is not None:
            understood = {
                "layout": reading.layout,
                "direction": reading.direction,
                "blanks": reading.blanks,
                "columns": list(reading.columns),
                "weights": reading.weights,
                "dropped": dict(reading.dropped),
                "reading": reading.lines(),
            }
        return {
            **understood,
            "n_ranked_nothing": self.n_empty,
            "by": self.by_name or None,
            "roles": {column: role._asdict() for column, role in self.roles.items()},
            "questions": {column: text for column, text in self.questions.items() if column in self.roles},
            "check": self.check.as_dict(),
        }

    def tables(self) -> list[TextTable]:
        """How the file was understood, and what should be looked at, as tables of text."""
        return [self.table(), *(self.check.tables() if self.check.findings else [])]

    def table(self) -> TextTable:
        """How the file was understood as a table of text."""
        kind = self.rankings.kind
        rows = [["rankings", f"{len(self.rankings):,} of {counted(self.rankings.n_items, 'item')}, {kind}"]]
        if self.n_empty:
            rows.append(["ranked nothing", f"{self.n_empty:,}, set apart"])
        if self.reading is not None:
            first, *others = self.reading.lines()
            rows += [["read as", first.removeprefix("Read as ")], *(["", line] for line in others)]
        if self.by is not None:
            sizes = [f"{label} {len(rows):,}" for label, rows in self.groups().items()]
            rows.append(["groups", f"{self.by_name}: {', '.join(sizes)}"])
        for role, title in (("name", "names"), ("id", "ids")):
            found = [column for column, own in self.roles.items() if own.role == role]
            rows += [[title, _some(found)]] if found else []
        kinds = [self._feature(column, name) for column, name in zip(self.X, self.feature_names, strict=True)]
        rows.append(["features", _some(kinds) if kinds else "none"])
        reasons: dict[tuple[str, str], list[str]] = {}
        for column, own in self.ignored.items():
            reasons.setdefault((own.role, own.reason), []).append(column)
        for number, ((role, reason), columns) in enumerate(reasons.items()):
            rows.append(["" if number else "ignored", f"{_some(columns)}: {role}, {reason}"])
        title = f"Survey: {self.name}" if self.name else "Survey"
        return TextTable(title, "; ".join(self.more_notes), ["", ""], rows)

    def _feature(self, column: str, name: str) -> str:
        """A feature as it is shown, with its column where that is another name, and its levels where it has some."""
        text = name if name == column or column in name else f"{name} [{column}]"
        levels = self.ordered.get(column)
        return text if levels is None else f"{text} ({levels[0]} < ... < {levels[-1]})"


def shown_names(columns: Iterable[str], questions: Mapping[str, str]) -> list[str]:
    """The names of columns as people read them: their questions, shortened, where these are known and differ."""
    columns = list(columns)
    texts = [short_name(questions.get(column) or column) for column in columns]
    return [
        text if texts.count(text) == 1 else f"{text} ({column})" for text, column in zip(texts, columns, strict=True)
    ]


def _some(names: Sequence[str], most: int = _SHOWN_COLUMNS) -> str:
    rest = f", ... ({len(names) - most} more)" if len(names) > most else ""
    return ", ".join(map(short_name, names[:most])) + rest


def _number_or_text(label: str) -> tuple[bool, float, str]:
    try:
        return False, float(label), label
    except ValueError:
        return True, 0.0, label
