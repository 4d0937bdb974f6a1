"""``rankwise studio``: how it starts, how it ends, and the one line in which it says what is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from rankwise.studio import serving
from rankwise.studio.serving import listen
from tests.cli.running import problem, run
from tests.studio.running import CSV, descendants, is_alive, wait_until, workers_of

# Seconds until an answer or the end; on a machine that does nothing else it takes less than one.
_PATIENCE = 240


# A command that runs in a name space of its own, so that it may have a small disk of its own.
_ON_A_DISK = ["unshare", "--mount", "--map-root-user", "sh", "-c"]


def _has_no_disks() -> bool:
    """Whether this user may not have such a disk."""
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None:
        return True
    tried = subprocess.run([*_ON_A_DISK, "mount -t tmpfs none /tmp"], capture_output=True, check=False)
    return tried.returncode != 0


class Studio:
    """A studio in a process of its own, with a folder for temporary files that nobody else uses."""

    def __init__(self, folder: Path, *arguments: str, megabytes: int | None = None) -> None:
        self.folder = folder
        environment = os.environ | {"TMPDIR": str(folder), "HOME": str(folder / "home")}
        environment.pop("MPLCONFIGDIR", None)
        command = [sys.executable, "-m", "rankwise", "studio", "--no-browser", "--port", "0", *arguments]
        if megabytes is not None:
            command = [*_ON_A_DISK, f'mount -t tmpfs -o size={megabytes}m none {folder} && exec "$@"', "sh", *command]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        found = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=([\w-]+)(\S*)", self.line)
        assert found, self.process.communicate()
        self.address, self.token, self.opened = found.groups()

    def ask(self, path: str, body: object = None, method: str | None = None):
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        request = urllib.request.Request(self.address + path, content, headers, method=method)
        return urllib.request.urlopen(request, timeout=_PATIENCE)

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(_PATIENCE)


@pytest.fixture
def start_studio():
    studios = []

    def start(*arguments: str, **disk: int) -> Studio:
        folder = Path(tempfile.mkdtemp(prefix="rw-"))  # short: sockets have short paths
        studios.append(Studio(folder, *arguments, **disk))
        return studios[-1]

    yield start
    for studio in studios:
        studio.process.kill()
        studio.process.communicate()
        shutil.rmtree(studio.folder, ignore_errors=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_starts_and_ends_and_leaves_nothing_behind(start_studio, tmp_path, number, code):
    file = tmp_path / "drinks.csv"
    head, *rows = CSV.splitlines(keepends=True)
    file.write_bytes(head + b"".join(300 * rows))
    studio = start_studio(str(file))
    key = re.fullmatch(r"#/([\w-]+)/data", studio.opened)[1]
    assert json.load(studio.ask(f"/api/projects/{key}"))["name"] == "drinks.csv"
    own = [path for path in studio.folder.iterdir() if path.name.startswith("rankwise-studio-")]
    assert [path.stat().st_mode & 0o777 for path in own] == [0o700]
    # A view is being made, and somebody listens to its news, when the end comes.
    job = json.load(studio.ask(f"/api/projects/{key}/jobs", {"view": "drivers"}))
    stream = studio.ask(f"/api/jobs/{job['id']}/events")
    listening = threading.Thread(target=lambda: list(stream), daemon=True)
    listening.start()
    # So does somebody who sends a file, of which the rest never comes.
    sending = socket.create_connection(("127.0.0.1", int(studio.address.rpartition(":")[2])))
    head = f"POST /api/projects HTTP/1.1\r\nHost: {studio.address.removeprefix('http://')}\r\n"
    sending.sendall(f"{head}Authorization: Bearer {studio.token}\r\nContent-Length: 99\r\n\r\na,b".encode())
    wait_until(lambda: list(own[0].glob("files/arriving-*")))
    wait_until(lambda: workers_of(studio.process.pid))
    for pid in workers_of(studio.process.pid):
        os.kill(pid, signal.SIGSTOP)  # whoever waits for it waits forever
    others = descendants(studio.process.pid)
    assert studio.end(number) == code
    assert not list(studio.folder.glob("rankwise-studio-*"))
    wait_until(lambda: not any(map(is_alive, others)))
    wait_until(lambda: not list(studio.folder.iterdir()))
    listening.join(_PATIENCE)
    assert b"503" in sending.recv(1000)
    sending.close()
    assert studio.process.stderr.read() == ""


@pytest.mark.slow
def test_reports_leave_nothing_behind(start_studio):
    studio = start_studio()
    project = json.load(studio.ask("/api/projects?example=jury", b""))["id"]
    job = json.load(studio.ask(f"/api/projects/{project}/download/report.html"))
    while job["state"] in ("waiting", "running"):
        time.sleep(0.05)
        job = json.load(studio.ask(f"/api/jobs/{job['id']}"))
    assert job["state"] == "done", job
    assert studio.end(signal.SIGINT) == 0
    wait_until(lambda: not list(studio.folder.iterdir()))


def test_the_server_is_killed_and_its_children_end(start_studio):
    studio = start_studio()
    project = json.load(studio.ask("/api/projects?name=a.csv", CSV))
    studio.ask(f"/api/projects/{project['id']}/jobs", {"view": "segments"})
    wait_until(lambda: len(descendants(studio.process.pid)) >= 2)
    others = descendants(studio.process.pid)
    studio.end(signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, others)))


@pytest.mark.slow
@pytest.mark.skipif(_has_no_disks(), reason="this user may not have a disk of his own")
def test_a_full_disk_is_one_sentence_and_the_studio_goes_on(start_studio):
    studio = start_studio(megabytes=3)

    def give(content: bytes):
        try:
            return json.load(studio.ask("/api/projects?name=a.csv", content))
        except urllib.error.HTTPError as error:
            return {"status": error.code, **json.load(error)}

    def made(project):
        job = json.load(studio.ask(f"/api/projects/{project['id']}/jobs", {"view": "data"}))
        while job["state"] in ("waiting", "running"):
            time.sleep(0.02)
            job = json.load(studio.ask(f"/api/jobs/{job['id']}"))
        return job

    assert give(os.urandom(4 * 2**20)) == {
        "status": 507,
        "error": "The disk is full.",
        "cure": "Make room in the folder of temporary files, or set TMPDIR to another.",
    }
    survey, filling = give(CSV), []
    for size in (2**18, 2**14, 2**12):
        while "id" in (project := give(os.urandom(size))):
            filling.append(project["id"])
    assert made(survey)["error"]["error"] == "The disk is full, or the result is too large."
    for project in filling:
        studio.ask(f"/api/projects/{project}", method="DELETE")
    assert made(survey)["state"] == "done"
    assert studio.end(signal.SIGINT) == 0


def test_a_port_in_use_is_one_line():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        said = problem("studio", "--no-browser", "--port", str(port))
    assert said == (
        f"rankwise: cannot listen at port {port} of 127.0.0.1: address already in use; choose another --port, or "
        "leave it out\n"
    )


def test_without_a_port_another_is_taken(monkeypatch):
    with listen("127.0.0.1", 0) as taken:
        monkeypatch.setattr(serving, "_FIRST_PORT", taken.getsockname()[1])
        with listen("127.0.0.1", None) as other:
            assert other.getsockname()[1] != taken.getsockname()[1]
            assert other.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no file"),
        (lambda path: path.mkdir(), "is a folder; give a file"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.with_suffix(".rankwise").write_bytes(b"no project"), "is not a project file of the studio"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, make, said):
    path = tmp_path / "survey.csv"
    make(path)
    path = path.with_suffix(".rankwise") if path.with_suffix(".rankwise").exists() else path
    assert said in problem("studio", path, "--no-browser", "--port", "0")


def test_a_file_that_is_too_large_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "survey.csv"
    path.write_bytes(bytes(3000))
    from rankwise.studio.settings import Settings

    monkeypatch.setattr(
        Settings.__init__,
        "__defaults__",
        tuple(1000 if value == 200 * 2**20 else value for value in Settings.__init__.__defaults__),
    )
    assert "is larger than" in problem("studio", path, "--no-browser", "--port", "0")


def test_the_extra_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    said = problem("studio", "--no-browser")
    assert said == "rankwise: rankwise studio needs fastapi: pip install 'rankwise[studio]'\n"


def test_other_machines_only_with_a_flag():
    said = problem("studio", "--host", "0.0.0.0", "--no-browser", code=2)
    assert "0.0.0.0 can be reached from other machines; if that is meant, add --allow-remote" in said


def test_other_machines_with_a_warning(monkeypatch):
    served = []
    monkeypatch.setattr(serving, "serve", lambda file, **settings: served.append(settings))
    done = run("studio", "--host", "0.0.0.0", "--allow-remote", "--no-browser", "--memory-limit", "100")
    assert done.exit_code == 0
    assert "other machines can reach the studio" in done.stderr
    assert (served[0]["host"], served[0]["allow_remote"], served[0]["memory_limit"]) == ("0.0.0.0", True, 100 * 2**20)


def test_the_browser_opens_unless_told_not_to(monkeypatch):
    opened = []
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)
    said = []
    serving._announce("http://127.0.0.1:1/?token=x", said.append, False)
    assert said[0] == "The studio is at http://127.0.0.1:1/?token=x"
    serving._announce("http://127.0.0.1:1/?token=x", said.append, True)
    wait_until(lambda: opened == ["http://127.0.0.1:1/?token=x"])


def test_only_the_loopback_is_bound():
    with listen("127.0.0.1", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        assert listener.family == socket.AF_INET


def test_help_says_what_it_does():
    said = run("studio", "--help").stdout
    assert "Open a page on this machine" in said
    assert "--allow-remote" in said
