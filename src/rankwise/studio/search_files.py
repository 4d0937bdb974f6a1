"""The files of a search project: the report, the workbook and the pictures, made of the blocks of its views.

The job "files" (`rankwise.studio.downloads`) writes them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from rankwise import __version__
from rankwise._table_files import save_tables
from rankwise._tables import TextTable, render
from rankwise.analysis.report_parts import Part, Section
from rankwise.analysis.report_pictures import Plan, draw_picture, save_pictures
from rankwise.studio import blocks
from rankwise.studio.blocks import Block, OnStep
from rankwise.studio.code import search_code_of
from rankwise.studio.search_views import SEARCH_VIEWS, SearchFile
from rankwise.studio.settings import PICTURES

# Two systems are compared under the metrics already.
_SECTIONS = {
    "data": "The files",
    "metrics": "Search quality",
    "queries": "Query by query",
    "explain": "Why one document stands above another",
}
_MOST_ROWS = 50


def write_search(
    name: str, files: Sequence[SearchFile], options: Mapping[str, Any], on_step: OnStep, folder: Path
) -> None:
    """Write the report, the workbook and the pictures of search results to a folder."""
    import matplotlib

    matplotlib.use("agg")
    shown, lines = _views(files, options, on_step)
    made = [block for found in shown.values() for block in found]
    plans = {block["id"]: block["plan"] for block in made if block.get("plan") is not None}
    on_step("Writing the report", 0.7)
    sections = [_section(view, found, plans) for view, found in shown.items()]
    code = Part("The same numbers without the page", code=tuple(lines))
    sections += [Section("code", "For programmers", "", [code])] if lines else []
    today = date.today()
    day = f"{today:%B} {today.day}, {today.year}"
    report = render(
        "search_report.html.j2",
        title=f"Search quality: {name}",
        by_lines=[" · ".join([*(file.name for file in files), day])],
        sections=sections,
        contents=[(section.id, section.title) for section in sections],
        most_rows=_MOST_ROWS,
        version=__version__,
        date=day,
    )
    # Names of files may be bytes that are not text.
    (folder / "report.html").write_text(report, encoding="utf-8", errors="replace")
    on_step("Writing the workbook", 0.8)
    if tables := [_table(block) for block in made if block["kind"] == "table"]:
        save_tables(tables, folder / "tables.xlsx", facts={})
    for form, share in (("png", 0.85), ("svg", 0.9)):
        on_step("Drawing the pictures", share)
        save_pictures({f"picture-{key}": plan for key, plan in plans.items()}, folder, form)
    pack_pictures(folder)


def pack_pictures(folder: Path) -> None:
    """Put all pictures of a folder into one file."""
    with zipfile.ZipFile(folder / PICTURES, "w", zipfile.ZIP_DEFLATED) as archive:
        for picture in sorted(folder.glob("picture-*")):
            archive.write(picture, picture.name.removeprefix("picture-"))


def _views(
    files: Sequence[SearchFile], options: Mapping[str, Any], on_step: OnStep
) -> tuple[dict[str, list[Block]], list[str]]:
    """The blocks of the views that these files have, and the commands that give their numbers."""
    shown: dict[str, list[Block]] = {}
    lines: list[str] = []
    for number, view in enumerate(_SECTIONS):
        on_step("Collecting the tables", 0.7 * number / len(_SECTIONS))
        try:
            made = SEARCH_VIEWS[view](files, {}, int(options.get("seed") or 0), lambda text, share: None)
        except ValueError as error:  # this view needs something that the project does not have
            words = str(error)
            made = {"blocks": [blocks.text(f"{words[:1].upper()}{words[1:]}.", "lead")]}
        else:
            lines += search_code_of(view, files, options, made.get("used", {}))["command"].splitlines()
        if view in ("data", "metrics") or any(block["kind"] != "text" for block in made["blocks"]):
            shown[view] = made["blocks"]
    return shown, list(dict.fromkeys(lines))


def _section(view: str, made: Iterable[Block], plans: Mapping[str, Plan]) -> Section:
    """A view as a section of the report: its first sentence leads, and its charts are drawn by their plans."""
    lead, parts = "", []
    for block in made:
        if block["kind"] == "text" and not lead:
            lead = block["text"]
        elif block["kind"] == "text":
            parts.append(Part(words=block["text"]))
        elif block["kind"] == "table":
            parts.append(Part(block["title"], table=_table(block), folded=block["folded"]))
        elif block["id"] in plans:
            picture = draw_picture(block["id"], plans[block["id"]])
            parts.append(Part(picture.title, picture=picture))
    return Section(view, _SECTIONS[view], lead, parts)


def _table(block: Block) -> TextTable:
    return TextTable(block["title"], block["note"], block["columns"], block["rows"])
