"""What others may try on a studio: other pages, names that lead here, bodies without end, files made to harm."""

from __future__ import annotations

import asyncio
import csv
import errno
import gzip
import io
import json
import os
import secrets
from pathlib import Path

import pytest

from rankwise.studio import projects, security
from rankwise.studio.routes import create_app
from rankwise.studio.settings import Settings
from tests.studio.attacks import HOSTILE, hostile_csv
from tests.studio.children import child
from tests.studio.running import CSV, TOKEN, ended, open_project, running, start

COOKIE = f"rankwise_studio_8765={TOKEN}"
ADDRESSES = (
    "/",
    "/static/app.js",
    "/api/examples",
    "/api/openapi.json",
    "/api/jobs/x",
    "/api/jobs/x/events",
    "/nowhere",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with running(tmp_path_factory.mktemp("studio"), child, max_body=50_000) as client:
        yield client


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A studio that reads files in earnest."""
    with running(tmp_path_factory.mktemp("reader")) as client:
        yield client


@pytest.fixture
def stranger(client):
    """A client without the token; what it sends is as given."""
    kept = dict(client.headers)
    client.headers.pop("authorization")
    client.cookies.clear()
    yield client
    client.cookies.clear()
    client.headers.update(kept)


def in_store(client):
    return sorted(path.name for path in Path(client.app.app.state.store.folder).iterdir())


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_without_the_token(stranger, address):
    for headers in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"cookie": "rankwise_studio_8765=wrong"},
        {"cookie": f"rankwise_studio_8766={TOKEN}"},
        {"cookie": f"other={TOKEN}"},
        {"cookie": "rankwise_studio_8765=; ="},
        {"authorization": "Bearer \xff".encode("latin-1")},
    ):
        answer = stranger.get(address, headers=headers)
        assert answer.status_code == 401
        assert TOKEN not in answer.text + str(answer.headers)
        assert "Open the address that the command printed" in answer.json()["cure"]


def test_nothing_is_stored_without_the_token(stranger):
    before = in_store(stranger)
    assert stranger.post("/api/projects", params={"name": "a.csv"}, content=CSV).status_code == 401
    assert stranger.post("/api/projects?token=" + TOKEN, content=CSV).status_code == 401
    assert in_store(stranger) == before


def test_the_token_goes_from_the_address_into_a_cookie(stranger):
    assert stranger.get("/?token=wrong").status_code == 401
    answer = stranger.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["set-cookie"] == f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"
    assert stranger.get("/api/examples", headers={"cookie": COOKIE}).status_code == 200


def test_the_token_is_compared_in_constant_time(client, monkeypatch):
    compared = []
    monkeypatch.setattr(
        security.secrets, "compare_digest", lambda a, b: compared.append((a, b)) or secrets.compare_digest.__name__ == a
    )
    assert client.get("/api/examples").status_code == 401  # because the comparison, and nothing else, decides
    assert client.get(f"/?token={TOKEN}").status_code == 401
    assert (TOKEN.encode(), TOKEN.encode()) in compared


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:8765.evil.example",
        "localhost.evil.example:8765",
        "0.0.0.0:8765",
        "192.168.1.7:8765",
        "",
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(client, host):
    answer = client.get("/api/examples", headers={"host": host})
    assert answer.status_code == 421
    assert client.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 421


def test_names_of_this_machine_are_known(client):
    for host in ("127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"):
        assert client.get("/api/examples", headers={"host": host}).status_code == 200


def test_from_elsewhere_only_by_number_or_own_name(tmp_path):
    with running(tmp_path, child, host="0.0.0.0", allow_remote=True) as client:
        for host, status in (("192.168.1.7:8765", 200), ("[fe80::1]:8765", 200), ("evil.example:8765", 421)):
            assert client.get("/api/examples", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8765"},  # of another name than the one that was asked
        {"origin": "https://127.0.0.1:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "cross-site"},
    ],
)
def test_other_pages_are_refused(client, headers):
    assert client.get("/api/examples", headers=headers).status_code == 403
    assert client.get(f"/?token={TOKEN}", headers=headers).status_code == 403
    before = in_store(client)
    assert client.post("/api/projects", params={"name": "a.csv"}, content=CSV, headers=headers).status_code == 403
    assert in_store(client) == before


def test_the_page_itself_is_let_in(client):
    headers = {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
    assert client.get("/api/examples", headers=headers).status_code == 200
    assert client.get("/", headers={"sec-fetch-site": "none"}).status_code == 200


def test_every_answer_has_the_headers(client):
    answers = [client.get(address) for address in ADDRESSES]
    answers += [client.get("/", headers=headers) for headers in ({"host": "evil"}, {"origin": "null"})]
    answers += [client.post("/api/projects", content=bytes(60_000)), client.get(f"/?token={TOKEN}")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in answer.headers


def test_there_are_no_web_sockets(client):
    with pytest.raises(Exception, match=r"^$|1008|denied") as refused, client.websocket_connect("/api/jobs/x"):
        pass
    assert "WebSocketDisconnect" in type(refused.value).__name__


def test_a_body_that_is_announced_as_too_large(client):
    before = in_store(client)
    answer = client.post("/api/projects", params={"name": "a.csv"}, content=bytes(50_001))
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"
    assert "larger than" in answer.json()["error"]
    assert client.post("/api/projects/open", content=bytes(50_001)).status_code == 413
    assert in_store(client) == before


def test_a_body_that_grows_too_large(tmp_path):
    sent, n_read = asyncio.run(_request(tmp_path, [bytes(10_000)] * 1_000, max_body=50_000))
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]
    assert n_read == 6  # the rest is not even read
    assert not list((tmp_path / "files").iterdir())


def test_a_body_that_never_comes(tmp_path):
    sent, _ = asyncio.run(_request(tmp_path, [b"a,b\n1,"], body_seconds=0.2))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert b"took longer than 0.2 seconds" in sent[1]["body"]
    assert not list((tmp_path / "files").iterdir())


async def _request(folder, pieces, **settings):
    """What is answered to a client that sends pieces of a file, and after them nothing; and how many were read."""
    app = create_app(Settings(folder, TOKEN, **settings))
    left, sent = iter(pieces), []
    n_read = 0

    async def receive():
        nonlocal n_read
        for piece in left:
            n_read += 1
            return {"type": "http.request", "body": piece, "more_body": True}
        await asyncio.sleep(60)
        raise AssertionError

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:8765"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/projects", "raw_path": b"/api/projects"}
    scope |= {"query_string": b"name=a.csv", "headers": headers, "http_version": "1.1", "scheme": "http"}
    scope |= {"server": ("127.0.0.1", 8765), "client": ("127.0.0.1", 1), "root_path": ""}
    await app(scope, receive, send)
    return sent, n_read


def test_json_has_a_limit_of_its_own(tmp_path):
    with running(tmp_path, child) as client:
        project = open_project(client)
        long = {"view": "data", "params": {"x": "y" * security.MAX_JSON}}
        assert client.post(f"/api/projects/{project['id']}/jobs", json=long).status_code == 413
        deep = b'{"view": "data", "params": ' + b'{"a":' * 60_000 + b"1" + b"}" * 60_000 + b"}"
        answer = client.post(f"/api/projects/{project['id']}/jobs", content=deep)
        assert answer.status_code in (413, 422)
        assert client.get(f"/api/projects/{project['id']}").status_code == 200


def test_wrong_lengths_and_headers_that_come_twice(client):
    for length in ("-1", "1e3", "\u00b2", "9" * 400):
        answer = client.post("/api/projects", content=b"a,b", headers=[("content-length", length.encode())])
        assert answer.status_code in (400, 413)
    for name in ("host", "origin", "sec-fetch-site"):
        twice = [(name, "127.0.0.1:8765"), (name, "evil.example")]
        assert client.get("/api/examples", headers=twice).status_code in (400, 421)


def test_ten_jobs_at_once_by_http(client):
    project = open_project(client)
    jobs = [start(client, project, "data", number=number, do="sleep", seconds=0.05) for number in range(10)]
    states = [client.get(f"/api/jobs/{job['id']}").json()["state"] for job in jobs]
    assert states.count("running") <= 2
    assert client.get("/api/examples").status_code == 200  # it answers meanwhile
    assert [ended(client, job)["state"] for job in jobs] == ["done"] * 10


def test_a_child_that_is_killed_by_http(client):
    project = open_project(client)
    job = ended(client, start(client, project, "data", do="die"))
    assert job["state"] == "failed"
    assert "ended without a word" in job["error"]["error"]
    assert ended(client, start(client, project, "data", do="work"))["state"] == "done"


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "/etc/passwd",
        "..\\..\\windows\\system32\\config",
        "a\0b.csv",
        "x" * 900 + ".csv",
        "con.csv/..",
        "\u202egnp.csv",
        "",
        ".",
        "..",
    ],
)
def test_a_name_is_shown_and_never_opened(client, name, monkeypatch):
    opened = []
    kept = os.replace
    monkeypatch.setattr(projects.os, "replace", lambda a, b: opened.append(Path(b)) or kept(a, b))
    project = open_project(client, name=name)
    store = Path(client.app.app.state.store.folder)
    assert [path.parent for path in opened] == [store]
    assert len(opened[0].stem) == 64
    assert len(project["name"]) <= 120
    assert not set("/\\\0\u202e") & set(project["name"])


def test_no_path_of_a_client_is_opened(client):
    project = open_project(client)
    for name in ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e", "/etc/passwd"):
        for address in (f"/api/projects/{project['id']}/download/{name}", f"/api/jobs/{name}", f"/static/{name}"):
            answer = client.get(address)
            assert answer.status_code in (404, 202)
            assert "root:" not in answer.text


def test_a_full_disk_is_one_sentence_and_the_studio_goes_on(client, monkeypatch):
    before = in_store(client)

    class Full(io.RawIOBase):
        def __init__(self, handle):
            self.handle = handle

        def writable(self):
            return True

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self):
            if not self.closed:
                os.close(self.handle)
            super().close()

    with monkeypatch.context() as patch:
        patch.setattr(projects.os, "fdopen", lambda handle, mode: Full(handle))
        answer = client.post("/api/projects", params={"name": "a.csv"}, content=CSV)
    assert answer.status_code == 507
    assert answer.json()["error"] == "The disk is full."
    assert in_store(client) == before
    assert open_project(client)["size"] == len(CSV)


def test_files_and_projects_have_limits(tmp_path):
    with running(tmp_path, child, max_stored=2 * len(CSV) + 20, max_projects=2) as client:
        first = open_project(client)
        open_project(client, CSV + b"\n")
        answer = client.post("/api/projects", params={"name": "a.csv"}, content=CSV + b"\n\n")
        assert (answer.status_code, "too large together" in answer.json()["error"]) == (507, True)
        answer = client.post("/api/projects", params={"name": "a.csv"}, content=b"a")
        assert answer.status_code == 429
        assert len(in_store(client)) == 2
        client.delete(f"/api/projects/{first['id']}")
        assert len(in_store(client)) == 1
        open_project(client, b"a,b")


def test_hostile_names_come_through_as_text(reader):
    project = open_project(reader, hostile_csv(), "<b>x</b>.csv")
    for view in ("data", "consensus", "pairs"):
        job = ended(reader, start(reader, project, view))
        assert job["state"] == "done", job["error"]
        assert reader.get(f"/api/jobs/{job['id']}").headers["content-type"] == "application/json"
    job = ended(reader, start(reader, project, "pairs"))
    said = json.dumps(job["result"], ensure_ascii=False)
    assert "<script>" in said  # the page shows names as text; nothing here turns them into something else
    assert "\u202e" not in said
    assert r"\\u202etxt.exe" in said  # spelled, since it would turn the direction of what follows


def test_cells_of_exported_tables_are_no_formulas(reader, tmp_path):
    from openpyxl import load_workbook

    from rankwise._table_files import save_tables
    from rankwise._tables import TextTable

    rows = [[name, "1"] for name in HOSTILE]
    save_tables([TextTable("t", "", ["=name", "n"], rows)], tmp_path / "t.xlsx", facts={})
    sheet = load_workbook(tmp_path / "t.xlsx").active
    assert {cell.data_type for row in sheet.iter_rows(min_row=2) for cell in row[:1]} == {"s"}
    assert sheet["A1"].data_type == "s"
    save_tables([TextTable("t", "", ["=name", "n"], rows)], tmp_path / "t.csv", facts={})
    cells = [row[0] for row in csv.reader(io.StringIO((tmp_path / "t.csv").read_text("utf-8")))]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)


def test_memberships_are_no_formulas(reader):
    lines = [
        CSV.splitlines()[0],
        *(b"=cmd|%d,%s" % (row, CSV.splitlines()[1 + row % 30].partition(b",")[2]) for row in range(60)),
    ]
    project = open_project(reader, b"\n".join(lines))
    address = f"/api/projects/{project['id']}/download/memberships.csv?n=2"
    ended(reader, reader.get(address).json())
    text = reader.get(address).text
    assert not [line for line in text.splitlines() if line.startswith("=")]
    assert len(text.splitlines()) == 61


def test_a_hundred_thousand_columns(reader):
    width = 100_000
    lines = [",".join(f"c{number}" for number in range(width))] + [",".join(["1"] * width)] * 3
    project = open_project(reader, "\n".join(lines).encode(), "wide.csv")
    for view in ("data", "consensus"):
        job = ended(reader, start(reader, project, view))
        assert job["state"] == "failed"
        assert "The file has 100,000 columns, and the studio shows up to 5,000" in job["error"]["error"]
    assert reader.get("/api/examples").status_code == 200


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", bytes(range(256)) * 50),
        ("a.xlsx", b"PK\3\4" + bytes(500)),
        ("a.sav", b"$FL2" + bytes(500)),
        ("a.csv.gz", b"\x1f\x8b" + bytes(100)),
        ("a.soc", b"5\n1,a\n2,b"),
        ("bomb.csv.gz", gzip.compress(bytes(30_000_000))),
        ("a.csv", b"\xff\xfe" + "a,b\n1,2\n".encode("utf-16-le")),
    ],
)
def test_files_that_are_none_are_one_sentence(reader, name, content):
    project = open_project(reader, content, name)
    job = ended(reader, start(reader, project, "consensus"))
    if job["state"] == "failed":
        assert "Unexpected" not in job["error"]["error"]
        assert "Traceback" not in job["error"]["error"]
        assert "/files/" not in json.dumps(job)
