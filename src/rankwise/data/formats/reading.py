"""How a file of rankings was understood: `Reading`, in sentences, as a Python call and as a shell command.

`rankwise.data.formats.detect.read_with_reading` makes one for every file; summaries and reports show it.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankwise.data.formats.text import listed
from rankwise.data.positions import Unlisted

Direction = Literal["1 is best", "higher is better", "best first"]
Blanks = Literal["no blanks", "missing", "below"]

_PICTURES = {
    "positions": "a column per item holds its place",
    "orders": "a column per place holds the item there",
    "strings": "one cell holds the whole order",
    "long": "a row per respondent and item holds its place",
    "pairwise": "a row per duel names the better item",
    "scores": "a column per item holds its score",
    "judges": "a row per item, a column per judge",
    "best-worst": "the best and the worst of the items shown are named",
    "tricot": "three items are shown, the best and the worst are named by letter",
    "preflib": "a PrefLib file lists the items of every order",
    "xarff": "an xarff file lists the items of every order",
}
_DIRECTIONS = {
    "1 is best": "1 is the best place.",
    "higher is better": "Higher numbers are better.",
    "best first": "Items are listed best first.",
}
# Layouts whose picture says all.
_SAY_DIRECTION = ("pairwise", "best-worst", "tricot")
# Lists up to the first length are shown whole, to be copied; of longer ones, some names show which are meant.
_MOST_COPIED = 60
_SHOWN_NAMES = 12
# What all shells read alike between double quotes.
_SAFE_IN_QUOTES = re.compile(r"[^\"$`\\!%\n]*")
_PLAIN_WORD = re.compile(r"[\w.,/:=+@-]+")
# Arguments of `read_rankings` in a sentence, and calls of it.
_ARGUMENT = re.compile(
    r"\b(layout|items|prefix|weights|unlisted|missing_values|delimiter|encoding|columns?|separator|tie|respondent|item|"
    r"position|score|drop|winner|loser|left(?:_score)?|right(?:_score)?|result|judges|values|best|worst|shown|trait|choice|sheet|invalid|keep|id|strict)="
    r"(\[[^\]]*\]|'[^']*'|\"[^\"]*\"|\w+)"
)
_CALL = re.compile(r"read_rankings\(path(?:, )?((?:[^()]|\([^()]*\))*)\)")
# Layouts whose ``items`` or ``columns`` are columns of the table.
_NAMED_COLUMNS = (None, "positions", "scores", "orders", "judges")


@dataclass(frozen=True)
class Reading:
    r"""How a file of rankings was understood.

    Attributes
    ----------
    layout : str
        A layout of `read_rankings`, or "preflib" or "xarff".
    direction : {"1 is best", "higher is better", "best first"}
        What the numbers, or the order of the names, say.
    reason : str
        One sentence: why this layout was taken.
    blanks : {"no blanks", "missing", "below"}
        What the rankings say of items without a place: there are none, nothing (never compared), or that they rank
        below the others.
    unlisted : {"below", "missing"} or None
        The option of `read_rankings` with that effect; None for layouts that do not have it.
    columns : tuple of str
        The columns that hold the rankings.
    weights : str or None
        The column of the weights.
    dropped : dict of str to int
        Why rows were left out, and how many.
    notes : tuple of str
        Other sentences that the reader of a result should know.
    options : dict
        The arguments of `read_rankings` that read the file in the same way, whatever its content.
    in_shell : bool
        Whether the sentences name options of the command line instead of arguments.

    Examples
    --------
    >>> from rankwise.data.formats.detect import read_with_reading
    >>> path = getfixture("tmp_path") / "drinks.csv"
    >>> _ = path.write_text("age,rank_tea,rank_milk\n31,2,1\n47,1,\n")
    >>> _, _, reading = read_with_reading(path)
    >>> print("\n".join(reading.lines()))
    Read as positions: a column per item holds its place ('rank_tea', 'rank_milk').
    The columns start with 'rank_' and hold places.
    1 is the best place.
    Blanks are missing: such an item is not compared. If they say "below the others", give unlisted='below'.
    >>> reading.call()
    "read_rankings(path, layout='positions', prefix='rank_', unlisted='missing')"
    >>> reading.command("drinks.csv")
    'rankwise consensus drinks.csv --layout positions --target rank_ --read unlisted=missing'
    """

    layout: str
    direction: Direction
    reason: str = ""
    blanks: Blanks = "no blanks"
    unlisted: Unlisted | None = None
    columns: tuple[str, ...] = ()
    weights: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    in_shell: bool = False

    def lines(self) -> list[str]:
        """How the file was understood, in plain sentences."""
        columns = f" ({listed(self.columns)})" if self.columns else ""
        picture = _PICTURES.get(self.layout, "rankings")
        if self.layout == "long" and self.direction == "higher is better":
            picture = picture.replace("place", "score")
        lines = [f"Read as {self.layout}: {picture}{columns}."]
        lines += [self.reason] if self.reason else []
        lines += [_DIRECTIONS[self.direction]] if self.layout not in _SAY_DIRECTION else []
        if self.blanks == "missing" and not self.unlisted:
            lines.append("Items that a row does not show are not compared.")
        elif self.blanks == "missing":
            other = "If they say \"below the others\", give unlisted='below'."
            lines.append(f"Blanks are missing: such an item is not compared. {other}")
        elif self.blanks == "below":
            other = " If they say nothing, give unlisted='missing'." if self.unlisted else ""
            lines.append(f"Items without a place rank below the others.{other}")
        lines += [f"Weights: the column {self.weights!r}."] if self.weights else []
        lines += [f"{count:,} row{'s' * (count != 1)} dropped: {why}." for why, count in self.dropped.items()]
        lines += self.notes
        return list(map(shell_words, lines)) if self.in_shell else lines

    def voting(self) -> str:
        """Which columns vote, in a sentence; empty for files without columns."""
        if self.layout == "judges":
            return f"Columns that vote: {listed(self.columns[1:])}; {self.columns[0]!r} names the items."
        what = "Columns that were read" if self.layout in ("long", *_SAY_DIRECTION) else "Columns that vote"
        return f"{what}: {listed(self.columns)}." if self.columns else ""

    def call(self) -> str:
        """The Python call that reads the file in this way, whatever its content."""
        return python_call(self._arguments())

    def command(self, file: str | os.PathLike[str], command: str = "consensus") -> str:
        """The shell command that reads the file in this way, whatever its content.

        Parameters
        ----------
        file : str or path-like
            The file, as the user named it.
        command : str, default="consensus"
            The command of ``rankwise``.

        Returns
        -------
        str
        """
        return shell_command(file, self._arguments(), command)

    def otherwise(self) -> dict[str, Any] | None:
        """The arguments of `read_rankings` that read blanks the other way; None where there is no such way."""
        if self.unlisted is None or self.blanks == "no blanks":
            return None
        return {**self._arguments(), "unlisted": "missing" if self.unlisted == "below" else "below"}

    def _arguments(self) -> dict[str, Any]:
        unlisted = {"unlisted": self.unlisted} if self.unlisted and self.blanks != "no blanks" else {}
        return {**self.options, **unlisted}


def python_call(arguments: Mapping[str, Any]) -> str:
    """The call of `read_rankings` with these arguments; long lists are cut."""
    given = []
    for name, value in arguments.items():
        cut = isinstance(value, list) and len(value) > _MOST_COPIED
        given.append(f"{name}={repr(value[:_SHOWN_NAMES])[:-1] + ', ...]' if cut else repr(value)}")
    return f"read_rankings({', '.join(['path', *given])})"


def shell_command(file: str | os.PathLike[str], arguments: Mapping[str, Any], command: str = "consensus") -> str:
    """The command line that reads a file with these arguments of `read_rankings`, ready to paste.

    Parameters
    ----------
    file : str or path-like
        The file, as the user named it.
    arguments : mapping
        Arguments of `read_rankings`, as in ``RankwiseFormatError.choices``.
    command : str, default="consensus"
        The command of ``rankwise``.

    Returns
    -------
    str

    Examples
    --------
    >>> shell_command("hack.csv", {"layout": "scores", "prefix": "Team "})
    'rankwise consensus hack.csv --layout scores --target "Team "'
    """
    words = ["rankwise", command, _quoted(os.fspath(file))]
    for name, value in arguments.items():
        words.append(_option(name, value, arguments.get("layout")))
    return " ".join(words)


def shell_words(text: str, command: str = "rankwise consensus FILE") -> str:
    """A sentence with options of the command line in place of arguments and calls of `read_rankings`.

    Examples
    --------
    >>> shell_words("If so, give tie='='; if it is one item, name all items with items=[...].")
    'If so, give --read tie==; if it is one item, name all items with --read items=A,B,C.'
    """

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if "..." in value:
            what = "A,B,C" if value.startswith("[") else "COLUMN"
            return f"--id {what}" if name == "id" else f"--read {name}={what}"
        try:
            return _option(name, ast.literal_eval(value))
        except (ValueError, SyntaxError):
            return _option(name, value)

    text = text.replace("help(read_rankings)", f"{' '.join(command.split()[:2])} --help")
    text = _CALL.sub(lambda call: f"{command} {call[1]}", text)
    text = re.sub(r"(?<=[\w\"]), (?=--)", " ", _ARGUMENT.sub(option, text))
    return re.sub(r"(--layout (?:positions|scores|orders)) --read (?:items|columns)=A,B,C", r"\1 --target A,B,C", text)


def _option(name: str, value: Any, layout: str | None = None) -> str:
    """The option of the command line for an argument of `read_rankings`."""
    is_list = isinstance(value, list) and all(part == part.strip() and "," not in part for part in map(str, value))
    text = ",".join(map(str, value)) if is_list else str(value) if isinstance(value, str | int | float) else repr(value)
    text = "none" if value is None else text
    if name == "layout":
        return f"--layout {value}"
    named = name in ("items", "columns") and is_list and len(value) > 1 and layout in _NAMED_COLUMNS
    return f"--target {_quoted(text)}" if name == "prefix" or named else f"--read {_quoted(f'{name}={text}')}"


def _quoted(text: str) -> str:
    """A word of a command line: as it is, in double quotes (which all shells know), else as POSIX wants it."""
    if _PLAIN_WORD.fullmatch(text):
        return text
    return f'"{text}"' if _SAFE_IN_QUOTES.fullmatch(text) else shlex.quote(text)
