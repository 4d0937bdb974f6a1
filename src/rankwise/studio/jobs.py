"""`JobQueue`: views are made by children, a few at a time, each with limits; the same view is made once.

A job is a project, a view and its parameters. Its result is a file named after a hash of everything that it depends on,
so that whoever asks again, in another tab or after a reload, gets the same job or its result. Two threads take
jobs from a queue, and each watches over one child: it hears of steps, and kills the child when its time is over or
somebody cancels the job.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankwise import __version__
from rankwise.studio.problems import Problem
from rankwise.studio.projects import Project
from rankwise.studio.settings import Settings

_SECONDS_TO_END = 2.0
# The shortest limit of common systems, less the zero at its end.
_LONGEST_SOCKET_PATH = 103
_ENDED = ("done", "failed", "cancelled")
_KILLED = {
    "error": "The job ended without a word; most likely the system ended it to save memory.",
    "cure": "Leave out columns or rows, and try again.",
    "choices": [],
}


class Job:
    """A view that is made, was made, or waits for it.

    Attributes
    ----------
    state : {"waiting", "running", "done", "failed", "cancelled"}
    progress : float
        From 0 to 1.
    step : str
        What it is at.
    error : dict or None
        ``error``, ``cure`` and ``choices`` of a job that failed.
    out, folder : Path
        Where the result lies, and what else the job wrote.
    revision : int
        Grows with every change, so that others can see whether there is news.
    """

    def __init__(self, project: Project, view: str, task: dict[str, Any], key: str) -> None:
        self.id = secrets.token_urlsafe(12)
        self.project, self.view, self.task, self.key = project.id, view, task, key
        self.out, self.folder = Path(task["out"]), Path(task["folder"])
        self.state, self.progress, self.step = "waiting", 0.0, ""
        self.error: dict[str, Any] | None = None
        self.revision = 0
        self.process: Any = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in _ENDED

    def as_json(self) -> bytes:
        """The job as the page sees it; its result is already JSON, and goes through as it is."""
        result, state, error = b"null", self.state, self.error
        if state == "done":
            try:
                result = self.out.read_bytes()
            except OSError:
                state, error = "failed", {"error": "The result was removed to save room.", "cure": "Ask again."}
        head: dict[str, Any] = {"id": self.id, "project": self.project, "view": self.view, "state": state}
        head |= {"progress": self.progress, "step": self.step, "error": error}
        return json.dumps(head).encode()[:-1] + b', "result": ' + result + b"}"

    def change(self, **values: Any) -> None:
        """Set attributes, and say that there is news."""
        for name, value in values.items():
            setattr(self, name, value)
        self.revision += 1


class JobQueue:
    """Jobs of all projects.

    Parameters
    ----------
    settings : Settings
    target : callable, optional
        What a child runs; `worker.work` unless a test says otherwise.
    """

    def __init__(self, settings: Settings, target: Callable[[Mapping[str, Any], Any], None] | None = None) -> None:
        self.settings = settings
        self.cache = settings.folder / "results"
        self.cache.mkdir(mode=0o700, exist_ok=True)
        methods = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context(
            "forkserver" if "forkserver" in methods and _has_room() else "spawn"
        )
        self._target = target or _work_in_child
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._newest: dict[tuple[str, str], Job] = {}
        self._waiting: deque[Job] = deque()
        self._news = threading.Condition()
        self._is_open = True
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads, and in the background the process that children are forked from."""
        if self._context.get_start_method() == "forkserver":
            own = ["rankwise.studio.jobs", "rankwise.studio.preloaded"]
            self._context.set_forkserver_preload([*own, *self.settings.preload])
            from multiprocessing import forkserver

            threading.Thread(target=forkserver.ensure_running, daemon=True).start()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self.settings.max_running)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Kill all children and end all threads."""
        with self._news:
            self._is_open = False
            self._news.notify_all()
        for job in list(self._jobs.values()):
            self.cancel(job)
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def __getitem__(self, key: str) -> Job:
        """The job with an id."""
        try:
            return self._jobs[key]
        except KeyError:
            raise Problem(404, "There is no such job in this run.", "Open the view again.") from None

    def submit(self, project: Project, view: str, params: Mapping[str, Any]) -> Job:
        """The job that makes a view of a project: one that runs or is done already, or a new one.

        Jobs that failed or were cancelled are tried again.
        """
        key = self._key(project, view, params)
        with self._news:
            found = self._newest.get((project.id, key))
            if found is not None and (not found.has_ended or (found.state == "done" and found.out.exists())):
                if found.state == "done":
                    os.utime(found.out)  # what was used last is removed last
                return found
            if len(self._waiting) >= self.settings.max_waiting:
                raise Problem(429, f"{len(self._waiting)} jobs are waiting.", "Try again when some are done.")
            task = {
                "name": project.name,
                "kind": project.kind,
                "options": project.options,
                "files": [(file.role, file.name, str(file.path)) for file in project.files],
                "view": view,
                "params": dict(params),
                "out": str(self.cache / f"{key}.json"),
                "folder": str(self.cache / key),
                "memory": self.settings.memory_limit,
                "written": self.settings.max_result,
            }
            job = Job(project, view, task, key)
            self._jobs[job.id] = self._newest[project.id, key] = job
            if job.out.exists():
                job.change(state="done", progress=1.0)
            else:
                self._waiting.append(job)
                self._news.notify()
            self._forget()
        return job

    def done(self, project: Project, view: str, params: Mapping[str, Any]) -> Job | None:
        """The job if it is done, else None; nothing is started."""
        found = self._newest.get((project.id, self._key(project, view, params)))
        return found if found is not None and found.state == "done" and found.out.exists() else None

    def cancel(self, job: Job) -> None:
        """End a job that waits or runs."""
        with self._news:
            if job.has_ended:
                return
            if job in self._waiting:
                self._waiting.remove(job)
            job.change(state="cancelled", step="")
        self._stop(job)

    def forget_project(self, project: Project) -> None:
        """Cancel and forget the jobs of a project that is closed."""
        for job in [job for job in self._jobs.values() if job.project == project.id]:
            self.cancel(job)
            with self._news:
                self._jobs.pop(job.id, None)
                self._newest.pop((job.project, job.key), None)

    def _key(self, project: Project, view: str, params: Mapping[str, Any]) -> str:
        files = [(file.role, file.name, file.digest) for file in project.files]
        parts = [__version__, project.name, project.kind, files, project.options, view, params]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _forget(self) -> None:
        """Forget the oldest of too many ended jobs."""
        ended = [job for job in self._jobs.values() if job.has_ended]
        for job in ended[: max(0, len(self._jobs) - self.settings.max_jobs)]:
            del self._jobs[job.id]
            if self._newest.get((job.project, job.key)) is job:
                del self._newest[job.project, job.key]

    def _work(self) -> None:
        while True:
            with self._news:
                while self._is_open and not self._waiting:
                    self._news.wait()
                if not self._is_open:
                    return
                job = self._waiting.popleft()
                job.change(state="running", step="Starting")
            try:
                error = self._run(job)
            except Exception as problem:  # a child that cannot be started must not end the queue
                error = {"error": f"The job could not be started: {problem}.", "cure": "Try again.", "choices": []}
            with self._news:
                if job.state == "running":
                    ended = {"state": "done", "progress": 1.0} if error is None else {"state": "failed", "error": error}
                    job.change(step="", **ended)
            if job.state != "done":
                job.out.with_suffix(".part").unlink(missing_ok=True)
                shutil.rmtree(job.folder, ignore_errors=True)
            self._make_room()

    def _run(self, job: Job) -> dict[str, Any] | None:
        """Run a job in a child; the error in which it ends, None if it is done."""
        if job.out.exists():  # another project made the same
            return None
        job.folder.mkdir(mode=0o700, exist_ok=True)
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=self._target, args=(job.task, theirs), daemon=True)
        process.start()
        job.process = process
        theirs.close()
        deadline = time.monotonic() + self.settings.time_limit
        try:
            if job.state != "running":  # cancelled while the child was started
                return _KILLED
            return self._ended(job, ours, deadline)
        finally:
            if process.exitcode is None:
                self._stop(job)
            ours.close()
            process.join()
            job.process = None
            process.close()

    def _ended(self, job: Job, connection: Any, deadline: float) -> dict[str, Any] | None:
        """Listen to a child until it ends; the error in which it does, None if it is done."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                limit = f"{self.settings.time_limit:g} seconds"
                cure = "Take fewer rows, or start the studio with a larger --time-limit."
                return {"error": f"The job took longer than {limit}.", "cure": cure, "choices": []}
            if not multiprocessing.connection.wait([connection], timeout=left):
                continue
            try:
                message = json.loads(connection.recv_bytes(2**20))
            except (EOFError, OSError):
                return _KILLED
            if "error" in message or "done" in message:
                job.process.join(1)  # it has nothing more to do
                return message.get("error")
            if job.state == "running":
                job.change(step=message["step"], progress=max(job.progress, message["progress"]))

    def _stop(self, job: Job) -> None:
        """Kill the child of a job with all that it started, if it has one."""
        process = job.process
        if process is None:
            return
        with contextlib.suppress(ValueError, OSError):  # it has ended meanwhile
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:  # it has no group of its own yet
                process.kill()

    def _make_room(self) -> None:
        """Remove the results that were used longest ago, when all together are too large."""
        results = sorted(self.cache.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        total = 0
        for path in results:
            folder = path.with_suffix("")
            total += path.stat().st_size + sum(file.stat().st_size for file in folder.glob("*"))
            if total > self.settings.max_cache:
                path.unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)


def _has_room() -> bool:
    """Whether the path of a socket in the folder for temporary files is short enough for the system."""
    return len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_SOCKET_PATH - len("/pymp-12345678/listener-12345678")


def _work_in_child(task: Mapping[str, Any], connection: Any) -> None:
    """What a child runs; the server itself imports nothing of what views need."""
    from rankwise.studio.worker import work

    work(task, connection)
