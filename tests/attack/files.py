"""Damaged files for every public reader: what is read is valid, all else is a RankwiseFormatError.

Each reader is given valid files of all formats after a few changes: bytes and blocks lost, repeated or replaced, pieces
that mean something to one format or another, other encodings, gzip, and changed members of workbooks.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankwise import Rankings, RankwiseFormatError, data, load
from rankwise.data import check_positions
from rankwise.label_ranking import RankingTree
from tests.attack.children import FAILED, Outcome, where
from tests.data.formats import survey_exports
from tests.data.formats.mutations import TOKENS
from tests.data.formats.survey_files import VALID

#: every public reader, so that a new one cannot be forgotten
READERS: dict[str, Callable[[Path], Any]] = {
    name: getattr(data, name) for name in data.__all__ if name.startswith("read_")
} | {"load": load}

_PREFLIB = b"# FILE NAME: x.toi\n# DATA TYPE: toi\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 3\n"
_PREFLIB += b"# NUMBER UNIQUE ORDERS: 2\n# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n"
_PREFLIB += b"# ALTERNATIVE NAME 3: juice\n2: 1,{2,3}\n1: 2\n"
_XARFF = b"% toy\n@relation toy\n@attribute x real\n@attribute c {a,b}\n@attribute y ranking {tea,milk}\n"
_XARFF += b"@data\n1,a,tea>milk\n2,b,milk\n"
_TEXTS = {
    "votes.toi": _PREFLIB,
    "toy.xarff": _XARFF,
    "train.letor": b"2 qid:10 1:0.5 2:-1e3 # doc-1\n0 qid:10 2:3\n1 qid:11 1:1 2:2 # doc-3\n",
    "judged.qrels": b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
    "system.run": b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\nq2 Q0 d1 1 0.5 x\n",
    "scores.csv": b"id,score_tea,score_milk\n1,3.5,2\n2,1,\n",
}
_EXPORTS = ("qualtrics", "limesurvey", "google_forms", "kobo")


def prepare(folder: Path) -> int:
    """Write a valid file of each kind that can be read here; the number of readers."""
    for name, content in _TEXTS.items():
        (folder / name).write_bytes(content)
    for number, content in enumerate(VALID):
        (folder / f"survey-{number}.csv").write_bytes(content)
    for name in _EXPORTS:
        getattr(survey_exports, name)(folder / f"{name}.csv", 8)
    _write_typed(folder)
    _write_model(folder / "tree.rankwise")
    return len(READERS)


def _write_typed(folder: Path) -> None:
    """Files that need the extra "files"."""
    rows = {"rank_tea": [1.0, 2.0, 3.0], "rank_milk": [2.0, 1.0, np.nan], "sex": ["f", "m", "f"]}
    if importlib.util.find_spec("openpyxl") and importlib.util.find_spec("fastexcel"):
        import openpyxl

        book = openpyxl.Workbook()
        for row in [list(rows), *zip(*rows.values(), strict=True)]:
            book.active.append(row)
        book.save(folder / "book.xlsx")
    if importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"):
        import pandas as pd

        frame = pd.DataFrame(rows)
        frame.to_parquet(folder / "frame.parquet")
        frame.to_feather(folder / "frame.feather")
        if importlib.util.find_spec("pyreadstat"):
            import pyreadstat

            pyreadstat.write_sav(frame, folder / "frame.sav", variable_value_labels={"rank_tea": {1.0: "first"}})
            pyreadstat.write_dta(frame, folder / "frame.dta")


def _write_model(path: Path) -> None:
    from rankwise import save

    rng = np.random.default_rng(0)
    save(RankingTree(max_depth=2).fit(rng.normal(size=(20, 2)), np.argsort(rng.random((20, 3))) + 1), path)


def trials(folder: Path) -> Callable[[int], Outcome]:
    """What a reader makes of one damaged file."""
    samples = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    scratch = Path(tempfile.mkdtemp(dir=folder))
    names, readers = list(samples), list(READERS)
    # What each reader reads undamaged is damaged most often; the rest it refuses at once.
    own = {reader: [name for name in names if _is_read(READERS[reader], folder / name)] for reader in readers}
    if without := [reader for reader in readers if not own[reader]]:
        raise AssertionError(f"no valid file for {without}: add one to tests/attack/files.py")

    def trial(seed: int) -> Outcome:
        rng = np.random.default_rng(seed)
        reader = readers[rng.integers(len(readers))]
        choices = own[reader] if rng.random() < 0.85 else names
        name = choices[rng.integers(len(choices))]
        content = damaged(samples[name], rng)
        path = scratch / name
        path.write_bytes(content)
        outcome, said = _outcome(READERS[reader], path)
        return outcome, f"{reader}, {name}: {said}{f' in {content[:300]!r}' if said else ''}"

    return trial


def _is_read(reader: Callable[[Path], Any], path: Path) -> bool:
    try:
        reader(path)
    except RankwiseFormatError:
        return False
    return True


def _outcome(reader: Callable[[Path], Any], path: Path) -> Outcome:
    try:
        found = reader(path)
    except RankwiseFormatError as error:
        return ("refused", "") if error.problem else (FAILED, "an error that says nothing")
    except Exception as error:
        return FAILED, where(error)
    for part in found if isinstance(found, tuple) else (found,):
        if isinstance(part, Rankings):
            check_positions(part.positions)
    return "read", ""


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file after one to four changes."""
    if content[:2] == b"PK" and rng.random() < 0.6:
        return _damaged_member(content, rng)
    for _ in range(rng.integers(1, 5)):
        content = _CHANGES[rng.integers(len(_CHANGES))](content, rng)
    return content


def _damaged_member(content: bytes, rng: np.random.Generator) -> bytes:
    """A zip whose checksums are right, and one of whose members is damaged."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[rng.integers(len(members))]
    for _ in range(rng.integers(1, 4)):
        members[name] = _CHANGES[rng.integers(5)](members[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, part in members.items():
            archive.writestr(each, part)
    return packed.getvalue()


def _block(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = int(rng.integers(len(content) + 1))
    return start, min(len(content), start + int(rng.integers(13)))


def _replace(content: bytes, rng: np.random.Generator) -> bytes:
    start, _ = _block(content, rng)
    return content[:start] + rng.bytes(1) + content[start + 1 :]


def _delete(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _block(content, rng)
    return content[:start] + content[stop:]


def _repeat(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _block(content, rng)
    return content[:stop] + content[start:stop] * int(rng.choice([1, 2, 1000])) + content[stop:]


def _insert(content: bytes, rng: np.random.Generator) -> bytes:
    start, _ = _block(content, rng)
    return content[:start] + TOKENS[rng.integers(len(TOKENS))] + content[start:]


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: _block(content, rng)[0]]


def _swap_cells(content: bytes, rng: np.random.Generator) -> bytes:
    """Two words change places."""
    words = content.split(b"," if rng.random() < 0.7 else b" ")
    glue = content[len(words[0]) : len(words[0]) + 1]
    a, b = rng.integers(len(words), size=2)
    words[a], words[b] = words[b], words[a]
    return glue.join(words)


def _encode(content: bytes, rng: np.random.Generator) -> bytes:
    """Another encoding, or packed."""
    if rng.random() < 0.5:
        return gzip.compress(content, mtime=0)
    encoding = str(rng.choice(["utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp1252"]))
    return content.decode("latin-1").encode(encoding, errors="replace")


_CHANGES = (_replace, _delete, _repeat, _insert, _cut, _replace, _delete, _insert, _swap_cells, _encode)
