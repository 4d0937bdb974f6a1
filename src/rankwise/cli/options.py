"""Arguments and options that several commands share: the same names, meanings and words of help."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.cli.in_and_out import allow_replacing, check_input

#: arguments of `read_rankings` that are lists, of Python or with commas between their elements
LISTS = ("items", "columns", "judges", "missing_values", "shown", "drop", "respondent", "where", "leave_out")
#: suffixes of the files that pictures can be written to
PICTURES = (".png", ".svg", ".pdf")


def _check_table_file(path: Path | None) -> Path | None:
    """Refuse a file that no table can be written to before the work begins."""
    return checked_suffix(path)


def _check_jobs(jobs: int) -> int:
    """Refuse no core at all."""
    if jobs == 0:
        raise typer.BadParameter("0 cores do no work; give the number of cores, or -1 for all", param_hint="--jobs")
    return jobs


def _check_shown_file(path: Path | None) -> Path | None:
    """Refuse a file that neither a table nor a picture can be written to before the work begins."""
    return checked_suffix(path, also=PICTURES)


def checked_suffix(path: Path | None, *, also: Sequence[str] = (), option: str = "--out") -> Path | None:
    """The file of an option, if tables can be written to it; others are refused before the work begins."""
    from rankwise._table_files import check_suffix

    if path is not None:
        try:
            check_suffix(path, also=also)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint=option) from None
    return path


#: rankings: see `rankwise.cli.sources.load`
Data = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file of rankings, - for standard input, or a built-in data set.",
        callback=check_input,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMNS", help="Columns that hold the rankings: tea,milk,juice or how they start; detected by default."
    ),
]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="NAME=VALUE",
        help="More on how to read the file, as unlisted=below or sheet=Answers; may be repeated.",
    ),
]
Layout = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the file holds rankings: positions, scores, orders, strings, long, pairwise, judges, best-worst or "
        "tricot; detected by default.",
    ),
]
DropBadRows = Annotated[
    bool,
    typer.Option("--drop-bad-rows", help="Leave out rows that are not rankings."),
]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="The column that says who answered.")]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that says how much a ranking counts.")]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="Show results side by side for each of its groups.")]
Features = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What to predict rankings from: age,city; answers by default."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns to leave out, as features and as items: seed,comment."),
]
#: any other file: see `rankwise.cli.in_and_out.readable`
Input = Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write; default: standard output.")
]
#: tables of results: see `rankwise._table_files`
TableOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        callback=_check_table_file,
        help="Write them too: .csv, .xlsx, .json or .md.",
    ),
]
#: tables of results, or a picture of them
ShownOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        callback=_check_shown_file,
        help="Write them too: .csv, .xlsx, .json or .md; or a picture: .png, .svg or .pdf.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
KeepFormulas = Annotated[
    bool,
    typer.Option(
        "--keep-formulas", help="Write names such as =A1 to CSV as they are: spreadsheets would run them as formulas."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Same seed, same numbers.")]
Jobs = Annotated[int, typer.Option(min=-1, metavar="N", callback=_check_jobs, help="Cores to work on; -1 is all.")]
ZeroBased = Annotated[bool, typer.Option("--zero-based", help="Features of LETOR files count from 0, not from 1.")]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the model; may be given several times."),
]


@dataclass(frozen=True)
class HowToRead:
    """What the options of a command say about its file of rankings; `reads_rankings` makes it of them."""

    target: str | None = None
    layout: str | None = None
    by: str | None = None
    weight: str | None = None
    id_: str | None = None
    features: list[str] | None = None
    ignore: list[str] | None = None
    read: list[str] | None = None
    drop_bad_rows: bool = False

    def arguments(self, **further: Any) -> dict[str, Any]:
        """The arguments of `rankwise.cli.sources.load`, with further columns of the command.

        Examples
        --------
        >>> HowToRead(target="q7_", read=["unlisted=below"]).arguments(by="city", features=None)
        {'target': 'q7_', 'reading': {'unlisted': 'below'}, 'by': 'city'}
        """
        columns = {"layout": self.layout, "by": self.by, "weight": self.weight, "id": self.id_}
        columns |= {"features": self.features, "ignore": self.ignore} | further
        given = {name: value for name, value in columns.items() if value is not None}
        dropping = {"invalid": "drop"} if self.drop_bad_rows else {}
        return {"target": self.target, "reading": {**dropping, **settings(self.read, "--read")}, **given}

    def words(self) -> list[str]:
        """The options as words of a command line."""
        found = []
        for name in _READING:
            value = getattr(self, name)
            option = f"--{name.rstrip('_').replace('_', '-')}"
            parts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
            found += [word for part in parts for word in (option, part)] + [option] * (value is True)
        return found


#: nothing is said about the file
DETECTED = HowToRead()
# In the order in which the help lists them.
_READING: dict[str, Any] = {
    "target": Target,
    "layout": Layout,
    "by": By,
    "weight": Weight,
    "id_": Id,
    "features": Features,
    "ignore": Ignore,
    "read": Read,
    "drop_bad_rows": DropBadRows,
}
_SPECIAL = ("by", "features", "ignore")


def reads_rankings(*special: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say how to read its file, in place of its parameter ``how``.

    Parameters
    ----------
    *special : {"by", "features", "ignore"}
        The columns that not every command takes, where this one does.

    Returns
    -------
    callable
        A decorator of a function with a parameter ``how``, a `HowToRead`.
    """
    names = [name for name in _READING if name not in _SPECIAL or name in special]

    def with_options(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**given: Any) -> None:
            function(**{"how": HowToRead(**{name: given.pop(name) for name in names}), **given})

        parameters: list[inspect.Parameter] = []
        signature = inspect.signature(function, eval_str=True)
        for parameter in signature.parameters.values():
            if parameter.name != "how":
                parameters.append(parameter)
                continue
            parameters += [
                parameter.replace(name=name, annotation=_READING[name], default=HowToRead.__dict__[name])
                for name in names
            ]
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return command

    return with_options


def writes_files(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command that has ``--out`` the options on how files are written, ``--force`` and ``--keep-formulas``."""
    signature = inspect.signature(function, eval_str=True)
    if "out" not in signature.parameters:
        return function

    @functools.wraps(function)
    def command(*, force: bool, keep_formulas: bool, **given: Any) -> None:
        from rankwise._table_files import KEEP_FORMULAS

        allow_replacing(force)
        KEEP_FORMULAS.set(keep_formulas)
        function(**given)

    options = {"force": Force, "keep_formulas": KeepFormulas}
    parameters = [
        *signature.parameters.values(),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
            for name, annotation in options.items()
        ),
    ]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


def check_level(level: float) -> None:
    """Refuse a level that is no share."""
    if not 0 < level < 1:
        raise typer.BadParameter(f"{level:g} is not between 0 and 1, as 0.95 is", param_hint="--level")


def settings(pairs: Iterable[str] | None, option: str = "--param") -> dict[str, Any]:
    """What ``NAME=VALUE`` options say: values that Python reads as literals are these, others are text.

    Examples
    --------
    >>> settings(["max_depth=3", "growth=level", "bootstrap=false"])
    {'max_depth': 3, 'growth': 'level', 'bootstrap': False}
    """
    found: dict[str, Any] = {}
    example = "weights=votes" if option == "--read" else "max_depth=3"
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE, as in {example}", param_hint=option)
        # An element of a list is text, whatever it looks like.
        is_text = option == "--read" and name.strip() in LISTS and not value.lstrip().startswith(("[", "(", "{"))
        found[name.strip()] = value.strip() if is_text and value.strip().lower() != "none" else _literal(value.strip())
    return found


_WORDS = {"true": True, "false": False, "none": None, "null": None}


def _literal(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
