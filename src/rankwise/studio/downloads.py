"""The jobs "files" and "memberships": what can be downloaded of a project, written in a child.

The report, the workbook and the pictures of a survey come from one `Analysis`, so that they agree with each other and
with ``rankwise report``; those of search results come from their views (``search_files``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwise._table_files import save_tables
from rankwise._tables import TextTable
from rankwise._validation import check_generator
from rankwise.analysis import analyze
from rankwise.analysis.base import sample_rows
from rankwise.studio.blocks import OnStep, Params
from rankwise.studio.code import code_of
from rankwise.studio.people_views import find_segments
from rankwise.studio.search_files import pack_pictures, write_search
from rankwise.studio.search_views import SearchFile
from rankwise.studio.settings import MEDIA_TYPES, MEMBERSHIPS, PICTURES
from rankwise.studio.surveys import open_survey

_SHARE_OF_ANALYSIS = 0.7


def make_files(
    view: str,
    name: str,
    kind: str,
    files: Sequence[SearchFile],
    options: Mapping[str, Any],
    params: Params,
    on_step: OnStep,
    folder: Path,
) -> dict[str, Any]:
    """Write the files of a project to a folder.

    Parameters
    ----------
    view : {"files", "memberships"}
        All files, or only the list of who belongs to which segment, which depends on the number of segments.
    name, kind, files, options
        Of the project.
    params : mapping
        Those of the view of segments, for the memberships.
    on_step : callable
        Told what happens next, and the share of the work that is done.
    folder : Path
        It exists, and is ours.

    Returns
    -------
    dict
        ``blocks``, which is empty, and ``files``: their names, titles and sizes.
    """
    if kind == "search":
        write_search(name, files, options, on_step, folder)
    elif view == "memberships":
        _write_memberships(files[0].path, name, options, params, on_step, folder)
    else:
        _write_survey(files[0].path, name, options, on_step, folder)
    made = [
        {"name": path.name, "title": _title(path), "size": path.stat().st_size}
        for path in sorted(folder.iterdir())
        if path.suffix in MEDIA_TYPES
    ]
    return {"blocks": [], "files": made}


def _write_survey(path: Path, name: str, options: Mapping[str, Any], on_step: OnStep, folder: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    survey = open_survey(path, name, options)
    seed = int(options.get("seed") or 0)
    result = analyze(survey, random_state=seed, on_step=lambda text, share: on_step(text, _SHARE_OF_ANALYSIS * share))
    on_step("Writing the report", 0.7)
    result.save_html(folder / "report.html", command=code_of("downloads", name, options, {})["command"])
    on_step("Writing the workbook", 0.8)
    result.to_excel(folder / "tables.xlsx")
    for form, share in (("png", 0.85), ("svg", 0.9)):
        on_step("Drawing the pictures", share)
        for picture in result.save_pictures(folder, form=form):
            picture.rename(folder / f"picture-{picture.name}")
    pack_pictures(folder)


def _title(path: Path) -> str:
    """What a file is called on the page."""
    known = {"report.html": "Report", "tables.xlsx": "All tables", MEMBERSHIPS: "The segment of each person"}
    known |= {PICTURES: "All pictures"}
    words = path.stem.removeprefix("picture-").replace("-", " ")
    return known.get(path.name, f"{words[:1].upper()}{words[1:]} ({path.suffix[1:].upper()})")


def _write_memberships(
    path: Path, name: str, options: Mapping[str, Any], params: Params, on_step: OnStep, folder: Path
) -> None:
    """The segment of each person, under the name or id where the survey has one; a blank where nothing can be told."""
    survey = open_survey(path, name, options)
    seed = int(options.get("seed") or 0)
    on_step("looking for segments", 0.1)
    found, n_people = find_segments(survey, params, seed)
    rows = sample_rows(len(survey.rankings), n_people, check_generator(seed))
    who = survey.names if survey.names is not None else survey.id
    names = rows + 1 if who is None else who[rows]
    lines = [
        [str(person), str(label + 1) if label >= 0 else ""]
        for person, label in zip(names.tolist(), found.labels.tolist(), strict=True)
    ]
    save_tables([TextTable("", "", ["person", "segment"], lines)], folder / MEMBERSHIPS, facts={})
