"""A studio within this process, and how to talk to it."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankwise.studio.jobs import Job, JobQueue
from rankwise.studio.routes import create_app
from rankwise.studio.settings import Settings

with warnings.catch_warnings():  # of another package for the same client, which comes later
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

# What children of this process import before they do anything.
PRELOAD = ("pytest", "tests.studio.children")
TOKEN = "the-token-of-the-tests"
CSV = b"who,age,rank_tea,rank_milk,rank_juice\n" + b"".join(
    b"P%d,%d,%s\n" % (row, 20 + row, (b"1,2,3", b"2,1,3", b"1,3,2")[row % 3]) for row in range(30)
)


@contextmanager
def running(folder: Path, target: Any = None, **settings: Any) -> Iterator[TestClient]:
    """A client with the right token, of a studio whose children run ``target``."""
    own = Settings(folder, TOKEN, preload=PRELOAD, **settings)
    app = create_app(own, JobQueue(own, target))
    headers = {"authorization": f"Bearer {TOKEN}"}
    with TestClient(app, base_url="http://127.0.0.1:8765", headers=headers, follow_redirects=False) as client:
        yield client


def open_project(client: TestClient, content: bytes = CSV, name: str = "drinks.csv") -> dict[str, Any]:
    answer = client.post("/api/projects", params={"name": name}, content=content)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def start(client: TestClient, project: dict[str, Any], view: str, **params: Any) -> dict[str, Any]:
    answer = client.post(f"/api/projects/{project['id']}/jobs", json={"view": view, "params": params})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ended(client: TestClient, job: dict[str, Any], seconds: float = 600) -> dict[str, Any]:
    """The job once it has ended."""
    deadline = time.monotonic() + seconds
    while job["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline, job
        time.sleep(0.02)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return job


def wait_until(condition: Any, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)


def end_of(job: Job) -> str:
    wait_until(lambda: job.has_ended)
    return job.state


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
            found += descendants(found[-1])
    return found


def workers_of(pid: int) -> list[int]:
    """The processes of a studio that make views: each leads a session of its own."""
    return [worker for worker in descendants(pid) if is_alive(worker) and os.getsid(worker) == worker]


def is_alive(pid: int) -> bool:
    """Whether a process has not ended; one that nobody asked for its end has ended all the same."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
