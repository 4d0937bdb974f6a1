"""The HTTP interface of the studio: projects, jobs and their news, downloads, and what errors look like."""

from __future__ import annotations

import asyncio
import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from rankwise.studio import routes
from tests.studio.children import child
from tests.studio.running import CSV, ended, open_project, running, start

SCORES = {"layout": "scores", "target": ["rank_tea", "rank_milk", "rank_juice"]}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with running(tmp_path_factory.mktemp("studio")) as client:
        yield client


@pytest.fixture
def quick(tmp_path):
    """A studio whose views say what their parameters were."""
    with running(tmp_path, child) as client:
        yield client


def words(job):
    return json.dumps(job["result"], ensure_ascii=False)


def test_a_file_becomes_a_project_and_a_view(client):
    project = open_project(client)
    assert project == {
        "id": project["id"],
        "name": "drinks.csv",
        "kind": "survey",
        "size": len(CSV),
        "options": {},
        "version": 1,
        "files": [{"role": "data", "name": "drinks.csv", "size": len(CSV)}],
    }
    assert client.get(f"/api/projects/{project['id']}").json() == project
    job = ended(client, start(client, project, "data"))
    assert (job["state"], job["progress"], job["error"]) == ("done", 1.0, None)
    assert [column["role"] for column in job["result"]["columns"]][2:] == ["ranking"] * 3
    job = ended(client, start(client, project, "consensus"))
    assert job["result"]["blocks"][0]["text"].startswith("tea comes first")
    assert "rankwise consensus drinks.csv" in job["result"]["code"]["command"]


def test_options_change_what_a_view_says(client):
    project = open_project(client)
    first = ended(client, start(client, project, "consensus"))
    changed = client.patch(f"/api/projects/{project['id']}", json={"options": {**SCORES, "by": None}}).json()
    assert (changed["options"], changed["version"]) == (SCORES, 2)
    second = ended(client, start(client, project, "consensus"))
    assert second["id"] != first["id"]
    assert second["result"]["blocks"][0]["text"].startswith("rank_juice comes first")
    client.patch(f"/api/projects/{project['id']}", json={"options": {"layout": None, "target": None}})
    assert start(client, project, "consensus")["id"] == first["id"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "/etc/passwd"}, "path is not an option"),
        ({"read": {"path": "/etc/passwd"}}, "read does not have the right form"),
        ({"target": "tea"}, "target does not have the right form"),
        ({"seed": -1}, "seed does not have the right form"),
        ({"where": {"age": "20"}}, "where does not have the right form"),
        ({"leave_out": [1.5]}, "leave_out does not have the right form"),
    ],
)
def test_options_that_are_none_are_refused(quick, options, said):
    project = open_project(quick)
    answer = quick.patch(f"/api/projects/{project['id']}", json={"options": options})
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert quick.get(f"/api/projects/{project['id']}").json() == project


def test_a_view_that_cannot_be_made_says_why(client):
    project = open_project(client)
    client.patch(f"/api/projects/{project['id']}", json={"options": {"by": "town"}})
    job = ended(client, start(client, project, "groups"))
    assert job["state"] == "failed"
    assert job["result"] is None
    assert "town" in job["error"]["error"]
    assert "files/" not in words(job) + job["error"]["error"]  # nothing of where we keep the file
    job = ended(client, start(client, project, "magic"))
    assert job["error"]["error"] == "There is no view 'magic' of such a project."


def test_news_of_a_job_come_as_events(quick):
    project = open_project(quick)
    job = start(quick, project, "data", do="work")
    with quick.stream("GET", f"/api/jobs/{job['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = list(stream.iter_lines())
    assert {line for line in lines if line.startswith("event:")} == {"event: job"}
    news = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert news[-1]["state"] == "done"
    assert news[-1]["result"]["blocks"]
    assert all(one["result"] is None for one in news[:-1])
    assert {one["state"] for one in news[:-1]} <= {"waiting", "running"}


def test_news_tell_of_every_step(quick, tmp_path):
    project = open_project(quick)
    gate = tmp_path / "gate"
    app = quick.app.app
    job = app.state.jobs[start(quick, project, "data", do="wait", **{"for": str(gate)})["id"]]

    async def listen():
        heard = []
        async for news in routes._events(app, job):
            heard.append(json.loads(news.partition(b"data: ")[2]))
            if heard[-1]["step"] == "waiting":
                gate.touch()
        return heard

    heard = asyncio.run(listen())
    assert ("running", 0.5) in {(one["state"], one["progress"]) for one in heard if one["step"] == "waiting"}
    assert heard[-1]["state"] == "done"


def test_a_job_is_cancelled(quick):
    project = open_project(quick)
    job = start(quick, project, "data", do="sleep")
    assert quick.delete(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"
    again = start(quick, project, "data", do="sleep")
    assert again["id"] != job["id"]
    assert quick.delete(f"/api/projects/{project['id']}").status_code == 204
    assert quick.get(f"/api/projects/{project['id']}").status_code == 404
    assert quick.get(f"/api/jobs/{again['id']}").status_code == 404


def test_two_tabs_share_a_job_and_a_reload_finds_it(quick):
    project = open_project(quick)
    job = start(quick, project, "data", do="sleep", seconds=0.2)
    assert start(quick, project, "data", seconds=0.2, do="sleep")["id"] == job["id"]
    assert ended(quick, job)["state"] == "done"
    assert start(quick, project, "data", do="sleep", seconds=0.2)["state"] == "done"


def test_examples_open(client):
    for example in client.get("/api/examples").json():
        answer = client.post("/api/projects", params={"example": example["name"]})
        assert answer.status_code == 200, answer.text
        project = answer.json()
        assert project["kind"] == example["kind"]
        assert ended(client, start(client, project, "data"))["state"] == "done"
    assert client.post("/api/projects", params={"example": "../secret"}).status_code == 404


def test_a_project_file_brings_everything_back(client):
    project = open_project(client)
    client.patch(f"/api/projects/{project['id']}", json={"options": {**SCORES, "seed": 5}})
    answer = client.get(f"/api/projects/{project['id']}/download/project.rankwise")
    assert answer.headers["content-disposition"] == 'attachment; filename="project.rankwise"'
    opened = client.post("/api/projects/open", content=answer.content).json()
    assert opened["id"] != project["id"]
    assert (opened["name"], opened["options"]) == ("drinks.csv", {**SCORES, "seed": 5})
    assert ended(client, start(client, opened, "consensus"))["result"]["blocks"][0]["text"].startswith(
        "rank_juice comes first"
    )


def test_other_files_are_no_projects(client):
    for content in (CSV, b"PK\5\6" + bytes(18), _zip({"manifest.json": b"{}"}), _zip({"../../evil": b"1"})):
        answer = client.post("/api/projects/open", content=content)
        assert answer.status_code == 422
        assert "is not a project file of the studio" in answer.json()["error"]
    stored = Path(client.app.app.state.store.folder)
    assert not [path for path in stored.iterdir() if path.name.startswith("arriving")]


def _zip(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_a_model_is_no_project(client, tmp_path):
    from rankwise import save
    from rankwise.label_ranking import RankingTree

    save(RankingTree(), tmp_path / "model.rankwise")
    answer = client.post("/api/projects/open", content=(tmp_path / "model.rankwise").read_bytes())
    assert answer.status_code == 422
    assert "it holds something else" in answer.json()["error"]


def test_a_search_project_takes_runs(client):
    qrels = b"".join(b"q%d 0 d%d %d\n" % (q, d, d % 2) for q in range(5) for d in range(6))
    run = b"".join(b"q%d Q0 d%d %d %f one\n" % (q, d, d + 1, 1 / (d + 1)) for q in range(5) for d in range(6))
    project = open_project(client, qrels, "judged.txt")
    assert (project["kind"], project["files"][0]["role"]) == ("search", "qrels")
    for name in ("one.run", "two.run"):
        answer = client.post(f"/api/projects/{project['id']}/files", params={"name": name}, content=run)
    assert [file["role"] for file in answer.json()["files"]] == ["qrels", "run", "run"]
    assert answer.json()["version"] == 3
    wrong = client.post(f"/api/projects/{project['id']}/files", params={"role": "model"}, content=run)
    assert wrong.status_code == 422
    assert ended(client, start(client, project, "metrics"))["state"] == "done"
    survey = open_project(client)
    assert client.post(f"/api/projects/{survey['id']}/files", content=run).status_code == 409


def test_memberships_are_a_file_of_their_own(client):
    project = client.post("/api/projects", params={"example": "drinks"}).json()
    address = f"/api/projects/{project['id']}/download/memberships.csv"
    answer = client.get(address, params={"n": 2})
    assert answer.status_code == 202
    job = ended(client, answer.json())
    assert job["result"]["files"][0]["name"] == "memberships.csv"
    lines = client.get(address, params={"n": 2}).text.splitlines()
    assert lines[0] == "person,segment"
    assert len(lines) == 241
    assert {line.split(",")[1] for line in lines[1:]} == {"1", "2"}


@pytest.mark.slow
def test_all_files_of_a_survey(client):
    project = client.post("/api/projects", params={"example": "jury"}).json()
    address = f"/api/projects/{project['id']}/download"
    job = ended(client, client.get(f"{address}/report.html").json(), 300)
    assert job["state"] == "done", job
    names = {file["name"] for file in job["result"]["files"]}
    assert {"report.html", "tables.xlsx", "pictures.zip"} <= names
    for name in names:
        answer = client.get(f"{address}/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment")
    assert client.get(f"{address}/nothing.html").status_code == 404
    with zipfile.ZipFile(io.BytesIO(client.get(f"{address}/pictures.zip").content)) as archive:
        pictures = archive.namelist()
    assert len(pictures) > 4
    assert {Path(name).stem for name in pictures if name.endswith(".png")} == {
        Path(name).stem for name in pictures if name.endswith(".svg")
    }


def test_errors_have_one_form(quick):
    for answer, status in (
        (quick.get("/api/projects/none"), 404),
        (quick.get("/api/jobs/none"), 404),
        (quick.get("/nowhere"), 404),
        (quick.put("/api/examples"), 405),
        (quick.post("/api/projects", content=b""), 422),
        (quick.post(f"/api/projects/{open_project(quick)['id']}/jobs", content=b"{"), 422),
        (quick.post(f"/api/projects/{open_project(quick)['id']}/jobs", json={"view": "../x"}), 422),
        (quick.get("/docs"), 404),
        (quick.get("/redoc"), 404),
    ):
        assert answer.status_code == status
        assert set(answer.json()) == {"error", "cure"}
        assert answer.json()["error"].endswith(".")


def test_the_interface_is_described(quick):
    described = quick.get("/api/openapi.json").json()
    assert described["info"]["title"] == "rankwise studio"
    paths = {(path, method) for path, own in described["paths"].items() for method in own}
    assert len(paths) == 12
    for path, own in described["paths"].items():
        for method, call in own.items():
            assert call.get("description"), (path, method)


def test_the_page_uses_what_is_described(quick):
    described = quick.get("/api/openapi.json").json()["paths"]
    known = {re.sub(r"{\w+}", "*", path): set(own) for path, own in described.items()}
    code = (Path(routes.__file__).parent / "static" / "api.js").read_text(encoding="utf-8")
    code = re.sub(r"\${encodeURIComponent\([\w.]+\)}", "*", code)
    asked = re.findall(r'(?:"(GET|POST|PATCH|DELETE)", )?["`](/api/[^"`?$]+)', code)
    assert len(asked) == code.count("/api/") == 12
    for method, path in asked:
        assert path in known
        assert not method or method.lower() in known[path]


def test_answers_are_those_that_are_described(quick):
    schemas = quick.get("/api/openapi.json").json()["components"]["schemas"]
    project = open_project(quick)
    job = ended(quick, start(quick, project, "data"))
    for model, answer in (
        (routes.ProjectOut, project),
        (routes.JobOut, job),
        (routes.ErrorOut, quick.get("/api/jobs/none").json()),
    ):
        assert set(answer) == set(schemas[model.__name__]["properties"])
        assert model.model_validate(answer, strict=True).model_dump() == answer


def test_the_page_and_its_files(quick):
    assert quick.get("/").headers["content-type"].startswith("text/html")
    for path in ("/static/../routes.py", "/static/%2e%2e/routes.py", "/static/..%2froutes.py", "/static//etc/passwd"):
        assert quick.get(path).status_code == 404


def test_nothing_is_reported_to_anybody(tmp_path, monkeypatch):
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with running(tmp_path, child) as client:
        assert client.get("/api/examples").status_code == 200
        telemetry = getattr(client.app.app, "_native_telemetry", None)
        assert telemetry is None or not telemetry.enabled()
