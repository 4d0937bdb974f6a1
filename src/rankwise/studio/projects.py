"""`ProjectStore`: the files that were dropped on the page, how each is to be read, and project files in and out.

A project is a file with the options that its user chose; a search project may have several files. Files lie in the
temporary folder under names that the server makes of their content, so the same file lies there once; what a client
calls a file is only shown, and never opened.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import secrets
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rankwise import __version__
from rankwise.studio.problems import Problem
from rankwise.studio.search_roles import LOOKED_AT, ROLES, search_role
from rankwise.studio.security import MAX_JSON
from rankwise.studio.settings import Settings

Kind = Literal["survey", "search"]

_PROJECT_FORMAT = "rankwise studio project"
_LONGEST_NAME = 120
# Readers look at the end of a name; only these ends are kept.
_SUFFIXES = (
    *(".csv", ".tsv", ".txt", ".dat", ".xlsx", ".xlsm", ".ods", ".sav", ".zsav", ".dta", ".parquet", ".arrow"),
    *(".feather", ".soc", ".soi", ".toc", ".toi", ".arff", ".xarff"),
)
# What may be said about reading a file, and how it must look.
_TEXT_OPTIONS = ("layout", "unlisted", "by", "weight", "id", "invalid")
_LIST_OPTIONS = ("target", "features", "ignore")
_OPTIONS = {*_TEXT_OPTIONS, *_LIST_OPTIONS, "read", "where", "leave_out", "seed"}


@dataclass(frozen=True)
class StoredFile:
    """A file in the temporary folder: what it is, what its user calls it, and where it lies."""

    role: str
    name: str
    path: Path
    size: int
    digest: str


@dataclass
class Project:
    """Files and the options with which they are read; its version grows with every change."""

    id: str
    name: str
    kind: Kind
    files: list[StoredFile]
    options: dict[str, Any] = field(default_factory=dict)
    version: int = 1

    def as_dict(self) -> dict[str, Any]:
        """The project as the page sees it."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "size": sum(file.size for file in self.files),
            "options": self.options,
            "version": self.version,
            "files": [{"role": file.role, "name": file.name, "size": file.size} for file in self.files],
        }


class ProjectStore:
    """The open projects and their files.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.folder / "files"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._projects: dict[str, Project] = {}

    def __getitem__(self, key: str) -> Project:
        """The project with an id."""
        try:
            return self._projects[key]
        except KeyError:
            raise Problem(404, "There is no such project in this run.", "Drop the file again.") from None

    async def store(self, chunks: AsyncIterator[bytes], name: str, role: str = "") -> StoredFile:
        """Keep a file that arrives in pieces; nothing of it is left if that fails."""
        name = shown_name(name)
        digest, size = hashlib.sha256(), 0
        room = self.settings.max_stored - self._bytes_stored()
        handle, arriving = tempfile.mkstemp(dir=self.folder, prefix="arriving-")
        try:
            with os.fdopen(handle, "wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > room:
                        raise Problem(507, "The files of all open projects are too large together.", "Close some.")
                    digest.update(chunk)
                    file.write(chunk)
            if not size:
                raise Problem(422, f"{name} is empty.", "Choose another file.")
            path = self.folder / f"{digest.hexdigest()}{_suffix(name)}"
            os.replace(arriving, path)
        except BaseException as error:
            Path(arriving).unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise disk_problem(error) from error
            raise
        return StoredFile(role or _search_role(path) or "data", name, path, size, digest.hexdigest())

    async def store_bytes(self, content: bytes, name: str, role: str = "") -> StoredFile:
        """Keep a file that is at hand."""

        async def chunks() -> AsyncIterator[bytes]:
            yield content

        return await self.store(chunks(), name, role)

    def add(self, files: list[StoredFile], name: str, options: Mapping[str, Any] | None = None) -> Project:
        """Open a project with files that were stored."""
        if len(self._projects) >= self.settings.max_projects:
            self._forget_files(files)
            raise Problem(429, f"{self.settings.max_projects} projects are open.", "Close some of them.")
        kind: Kind = "search" if files[0].role in ROLES else "survey"
        project = Project(secrets.token_urlsafe(12), shown_name(name), kind, files, dict(options or {}))
        self._projects[project.id] = project
        return project

    def add_file(self, project: Project, file: StoredFile) -> None:
        """Add another file to a search project: a run, or judgments, which replace those that it had."""
        if project.kind != "search":
            self._forget_files([file])
            raise Problem(409, "Only a search project has several files.", "Drop the file on the first page.")
        replaced = [old for old in project.files if (old.name, old.role) == (file.name, file.role)]
        replaced += [old for old in project.files if old.role == file.role != "run" and old not in replaced]
        project.files = [old for old in project.files if old not in replaced] + [file]
        project.version += 1
        self._forget_files(replaced)

    def change(self, project: Project, options: Mapping[str, Any]) -> None:
        """Merge options into those of a project; None takes one away."""
        merged = {**project.options, **options}
        project.options = checked_options({key: value for key, value in merged.items() if value is not None})
        project.version += 1

    def remove(self, project: Project) -> None:
        """Close a project; its files go, unless another project has them too."""
        self._projects.pop(project.id, None)
        self._forget_files(project.files)

    def packed(self, project: Project) -> bytes:
        """A project as a file that `unpack` opens: our safe format, which holds data and can run nothing."""
        import numpy as np

        from rankwise.persistence.container import write_container

        manifest = {
            "format": _PROJECT_FORMAT,
            "format_version": 1,
            "rankwise": __version__,
            "name": project.name,
            "options": project.options,
            "files": [{"role": file.role, "name": file.name} for file in project.files],
        }
        contents = [np.frombuffer(file.path.read_bytes(), dtype=np.uint8) for file in project.files]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path = Path(folder) / "project.rankwise"
            try:
                write_container(path, manifest, contents)
            except OSError as error:
                raise disk_problem(error) from error
            return path.read_bytes()

    def unpack(self, file: StoredFile) -> tuple[dict[str, Any], list[bytes]]:
        """The manifest and the files of a project file that was stored; the project file itself goes."""
        from rankwise.persistence.container import read_container

        try:
            with open(file.path, "rb") as stream:
                manifest, arrays = read_container(stream, 2 * self.settings.max_body, _checked_manifest)
            if len(arrays) != len(manifest["files"]) or any(str(array.dtype) != "uint8" for array in arrays):
                raise ValueError("files and manifest do not belong together")
            return manifest, [array.tobytes() for array in arrays]
        except Problem:
            raise
        except (ValueError, TypeError, KeyError, zipfile.BadZipFile, EOFError, RecursionError) as error:
            raise Problem(
                422, f"{file.name} is not a project file of the studio: {error}.", "Drop data on the first page."
            ) from error
        finally:
            self._forget_files([file])

    def _bytes_stored(self) -> int:
        return sum(file.size for project in self._projects.values() for file in project.files)

    def _forget_files(self, files: list[StoredFile]) -> None:
        used = {file.path for project in self._projects.values() for file in project.files}
        for file in files:
            if file.path not in used:
                file.path.unlink(missing_ok=True)


def shown_name(name: str) -> str:
    """The name of a file as it is shown: its last part, without what steers a terminal or turns the text around."""
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C").strip()
    return plain[-_LONGEST_NAME:] or "data.csv"


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a project, if they are such; they are only looked at as data, and never name a file."""
    for key, value in options.items():
        if key not in _OPTIONS:
            raise Problem(422, f"{key} is not an option.", f"Options are {', '.join(sorted(_OPTIONS))}.")
        is_right = _RIGHT.get(key, _is_text)(value)
        if not is_right:
            raise Problem(422, f"The option {key} does not have the right form.")
    if len(json.dumps(options)) > MAX_JSON:
        raise Problem(413, "The options are too long.")
    return dict(options)


def disk_problem(error: OSError) -> Problem:
    """What to say when a file cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Problem(
            507, "The disk is full.", "Make room in the folder of temporary files, or set TMPDIR to another."
        )
    return Problem(500, f"The file could not be kept: {error.strerror or error}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**32


def _is_plain(value: Any) -> bool:
    return (
        value is None or isinstance(value, str | int | float | bool) or (isinstance(value, list) and _all_plain(value))
    )


def _all_plain(values: list[Any]) -> bool:
    return all(isinstance(value, str | int | float | bool) for value in values)


_RIGHT: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(_TEXT_OPTIONS, _is_text),
    **dict.fromkeys(_LIST_OPTIONS, _is_list),
    "seed": _is_count,
    "leave_out": lambda value: isinstance(value, list) and all(_is_text(who) or _is_count(who) for who in value),
    "where": lambda value: isinstance(value, dict) and all(map(_is_list, value.values())),
    # A reader takes the path from us, and from nobody else.
    "read": lambda value: isinstance(value, dict) and "path" not in value and all(map(_is_plain, value.values())),
}


def _checked_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest.get("format") != _PROJECT_FORMAT:
        raise ValueError("it holds something else")
    if manifest.get("format_version") != 1:
        raise ValueError("a newer version of rankwise wrote it")
    files = manifest["files"]
    if not isinstance(manifest["name"], str) or not isinstance(files, list) or not 0 < len(files) <= 100:
        raise ValueError("its manifest is not valid")
    roles = {"data", *ROLES}
    if not all(isinstance(file.get("name"), str) and file.get("role") in roles for file in files):
        raise ValueError("its manifest is not valid")
    if not isinstance(manifest["options"], dict):
        raise ValueError("its manifest is not valid")
    checked_options(manifest["options"])
    return manifest


def _suffix(name: str) -> str:
    """The end of a name that readers look at, if it is one of those that they know."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(name).suffixes[-2:]]
    packed = ".gz" if suffixes[-1:] == [".gz"] else ""
    kept = [suffix for suffix in suffixes if suffix in _SUFFIXES][-1:]
    return "".join(kept) + packed


def _search_role(path: Path) -> str | None:
    """What a file of search results is, by its first lines; None for all other files."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            return search_role(file.read(LOOKED_AT + 1))
    except (OSError, EOFError, zlib.error):
        return None
