"""Hostile names in every place where a name is shown: terminal, report, tables, workbooks, pictures and the studio.

A file of answers whose items, people and columns are named by pieces of terminal escapes, changes of direction, HTML,
formulas of spreadsheets and of Matplotlib is given to commands. Nothing that comes out may be more than text.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import tempfile
import traceback
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from rankwise.cli.app import app
from tests.attack.children import FAILED, Outcome
from tests.pages import Page

_PIECES = (
    "tea",
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\x07",
    "\x08\x08",
    "\u202etxt",
    "\u2066",
    "\u2028",
    "=1+1",
    "@SUM(A1)",
)
_PIECES += (
    "+cmd|' /C calc'!A0",
    "-2+3",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "&amp;",
    "{{7*7}}",
)
_PIECES += (
    "[bold]x[/bold]",
    "[/]",
    r"$\bad{$",
    "_hidden",
    "%s%n",
    "../../etc/passwd",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
)
# What a terminal or a reader would act on: all control characters but the ends of lines, and changes of direction.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_N_ITEMS, _N_PEOPLE = 4, 24


def prepare(folder: Path) -> int:
    """Nothing has to be there; the number of places where names come out."""
    return len(_PLACES)


def trials(folder: Path) -> Callable[[int], Outcome]:
    """One file of hostile names, and all that is made of it."""
    scratch = Path(tempfile.mkdtemp(dir=folder))

    def trial(seed: int) -> Outcome:
        rng = np.random.default_rng(seed)
        path = scratch / "people.csv"
        path.write_bytes(_survey(rng))
        bad = [f"{place.__name__[1:]}: {problem}" for place in _PLACES for problem in _problems(place, path)]
        for each in scratch.iterdir():
            each.unlink()
        return (FAILED, "; ".join(bad)) if bad else ("text", "")

    return trial


def _survey(rng: np.random.Generator) -> bytes:
    """People in rows, and positions of items in columns."""

    def name(number: int) -> str:  # each is another, and no number of a place
        return "".join(rng.choice(_PIECES, size=rng.integers(1, 4))) + "abcdefghijklmnopqrstuvwxyz"[number]

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([name(0), *(f"rank_{name(item + 1)}" for item in range(_N_ITEMS))])
    for row in range(_N_PEOPLE):
        writer.writerow([name(row), *(1 + rng.permutation(_N_ITEMS))])
    return text.getvalue().encode()


def _problems(place: Callable[[Path], Iterator[str]], path: Path) -> list[str]:
    try:
        return list(place(path))
    except Exception as error:
        return [f"{type(error).__name__}: {error} {traceback.format_exc()[-600:]}"]


def _run(*arguments: str | Path) -> str:
    """What a command prints on both streams."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "300"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return f"{done.stdout}{done.stderr}"


def _active(text: str) -> Iterator[str]:
    if found := _ACTIVE.search(text):
        start = max(0, found.start() - 30)
        yield f"{found[0]!r} is printed raw: {text[start : found.end() + 30]!r}"


def _terminal(path: Path) -> Iterator[str]:
    for command in ("describe", "consensus", "raters"):
        yield from _active(_run(command, path))
    yield from _active(_run("consensus", path, "--read", "item=\x1b[31m"))  # what messages quote


def _json(path: Path) -> Iterator[str]:
    text = _run("consensus", path, "--json")
    yield from _active(text)
    json.loads(text[text.index("{") :])


def _report(path: Path) -> Iterator[str]:
    out = path.with_name("report.html")
    yield from _active(_run("report", path, "--out", out))
    text = out.read_text("utf-8")
    yield from _active(text)
    page = Page(text)
    yield from (f"a {tag} in the report" for tag in {"script", "img", "iframe", "object"} & set(page.tags))
    yield from (
        f"the report refers to {address}"
        for address in page.references
        if re.match(r"\w+:", address) and not address.startswith("data:")
    )
    yield from (f"an {found} in the report" for found in re.findall(r"<[^>\"']*\son\w+\s*=", text))


def _tables(path: Path) -> Iterator[str]:
    out = path.with_name("table.csv")
    _run("consensus", path, "--out", out)
    text = out.read_text("utf-8")
    yield from _active(text)
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    yield from (
        f"a formula in the table: {cell!r}" for cell in cells if cell.startswith(_FORMULA) and not _is_number(cell)
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _workbook(path: Path) -> Iterator[str]:
    if not importlib.util.find_spec("openpyxl"):
        return
    from openpyxl import load_workbook

    out = path.with_name("table.xlsx")
    _run("consensus", path, "--out", out)
    kinds = {(cell.data_type, cell.value) for sheet in load_workbook(out) for row in sheet.iter_rows() for cell in row}
    yield from (f"a formula in the workbook: {value!r}" for kind, value in kinds if kind == "f")


def _pictures(path: Path) -> Iterator[str]:
    """Every picture of rankings, as SVG."""
    import matplotlib.pyplot as plt

    from rankwise import plots, read_rankings

    rankings = read_rankings(path)
    kinds = [kind for name in plots.__all__ if hasattr(kind := getattr(plots, name), "from_rankings")]
    for kind in kinds:
        display = kind.from_rankings(rankings)
        out = path.with_name(f"{kind.__name__}.svg")
        display.save(out)
        plt.close(display.figure_)
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(out).iter()}
        yield from (f"a {tag} in {kind.__name__}" for tag in {"script", "foreignObject"} & tags)


def _studio(path: Path) -> Iterator[str]:
    """What the studio's page is sent: JSON, which its page shows as text (held by tests in a browser)."""
    if not (importlib.util.find_spec("fastapi") and importlib.util.find_spec("httpx")):
        return
    from tests.studio.running import running

    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as client:
        answer = client.post("/api/projects", params={"name": "\u202e<b>.csv"}, content=path.read_bytes())
        answer.raise_for_status()
        address = f"/api/projects/{answer.json()['id']}"
        for reply in (answer, client.get(address)):
            if (
                reply.headers["content-type"] != "application/json"
                or reply.headers["x-content-type-options"] != "nosniff"
            ):
                yield f"the studio sends {reply.headers}"
            reply.json()


_PLACES = (_terminal, _json, _report, _tables, _workbook, _pictures, _studio)
