"""The child of a job: it reads the project's files, makes one view, writes it as JSON, and ends.

It runs in a process of its own with limits of memory and of written bytes, so whatever a file does to it, the server
lives on. `jobs` starts it; they talk through a pipe, in small pieces of JSON: ``{"step", "progress"}`` while it works,
and at last ``{"done": true}`` or ``{"error": {...}}``.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import rankwise.data.formats.frames
import rankwise.data.formats.workbooks  # noqa: F401
from rankwise.studio import search_views, views
from rankwise.studio.blocks import OnStep
from rankwise.studio.code import code_of, search_code_of
from rankwise.studio.downloads import make_files
from rankwise.studio.search_views import SEARCH_VIEWS, SearchFile
from rankwise.studio.surveys import problem_of
from rankwise.studio.views import VIEWS

_SECONDS_BETWEEN_STEPS = 0.1
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def work(task: Mapping[str, Any], connection: Connection) -> None:
    """Make the view of a task and write it to ``task["out"]``.

    Parameters
    ----------
    task : mapping
        ``name``, ``kind``, ``options`` and ``files`` of the project, ``view`` and ``params``, ``out`` (a file that does
        not exist), ``folder`` for what else the job writes, ``memory`` and ``written``, in bytes.
    connection : Connection
        The way to the server. When it closes, the server is gone, and the job ends.
    """
    _set_limits(task)
    threading.Thread(target=_end_with_server, args=(connection,), daemon=True).start()
    say = _Saying(connection)
    try:
        result = _made(task, say.step)
        text = json.dumps(result, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        out = Path(task["out"])
        arriving = out.with_suffix(".part")
        arriving.write_text(text, encoding="utf-8", errors="replace")
        arriving.replace(out)
    except BaseException as error:
        if Path(task["folder"]).exists():  # else the server has ended and taken all files with it
            say.message({"error": error_of(error)})
    else:
        say.message({"done": True})


def error_of(error: BaseException) -> dict[str, Any]:
    """An error in a sentence, with its cure and the ways to choose from."""
    if isinstance(error, MemoryError):
        cure = "Leave out columns or rows, or start the studio with a larger --memory-limit."
        return {"error": "The job needs more memory than it may take.", "cure": cure, "choices": []}
    if isinstance(error, OSError) and error.errno in _DISK_FULL:
        cure = "Make room in the folder of temporary files, or set TMPDIR to another."
        return {"error": "The disk is full, or the result is too large.", "cure": cure, "choices": []}
    if isinstance(error, ValueError | ImportError):
        return problem_of(error)
    traceback.print_exception(error)
    words = " ".join(" ".join(traceback.format_exception_only(error)).split())
    return {"error": f"Unexpected problem: {words}", "cure": "Please report it.", "choices": []}


def _made(task: Mapping[str, Any], on_step: OnStep) -> dict[str, Any]:
    """The result of a task; that of a survey says how to get the same numbers without the page, where there are any."""
    name, options, view, params = task["name"], task["options"], task["view"], task["params"]
    files = [SearchFile(role, called, Path(path)) for role, called, path in task["files"]]
    if view in ("files", "memberships"):
        return make_files(view, name, task["kind"], files, options, params, on_step, Path(task["folder"]))
    if view not in (SEARCH_VIEWS if task["kind"] == "search" else {"data", *VIEWS}):
        raise ValueError(f"there is no view {view!r} of such a project")
    if task["kind"] == "search":
        made = search_views.show(view, files, options, params, on_step)
        used = {**params, **made.pop("used", {})}
        return {**made, "code": search_code_of(view, files, options, used)}
    made = views.show(view, files[0].path, name, options, params, on_step)
    # With what the view chose by itself, such as the rules that it compared.
    used = {**params, **made.pop("used", {})}
    return {"code": code_of(view, name, options, used), **made}


class _Saying:
    """Messages to the server: not more steps than anybody can read."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.last = -1.0

    def step(self, text: str, share: float) -> None:
        now = time.monotonic()
        if now - self.last >= _SECONDS_BETWEEN_STEPS:
            self.last = now
            self.message({"step": str(text), "progress": min(1.0, max(0.0, float(share)))})

    def message(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # nobody is there to hear it
            self.connection.send_bytes(json.dumps(message).encode())


def _set_limits(task: Mapping[str, Any]) -> None:
    """Keep to a process group of our own, to the folder of the job, and to its memory and bytes."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when we end
    tempfile.tempdir = task["folder"]
    # Nothing is left in the user's home either; all jobs of a run share what it knows of fonts.
    os.environ.setdefault("MPLCONFIGDIR", str(Path(task["folder"]).parent / "matplotlib"))
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError):
        os.setsid()
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") if _has_proc() else 2**33
    for what, most in (
        (resource.RLIMIT_AS, taken + task["memory"]),
        (resource.RLIMIT_FSIZE, task["written"]),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, hard))


def _has_proc() -> bool:
    return Path("/proc/self/statm").exists()


def _end_with_server(connection: Connection) -> None:
    """Wait for the other end to close; it never says anything."""
    with contextlib.suppress(EOFError, OSError):
        connection.recv_bytes()
    os._exit(1)
