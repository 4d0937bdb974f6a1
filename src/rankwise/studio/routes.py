"""`create_app`: the HTTP interface of the studio. Routes only: what they do is done elsewhere.

Every error is ``{"error": one sentence, "cure": text}`` with its status. The interface is described under
``/api/openapi.json``; the pages that FastAPI would make of it load scripts from elsewhere, so there are none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request
from fastapi import Path as PathPart
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from rankwise import __version__
from rankwise.studio.jobs import Job, JobQueue
from rankwise.studio.problems import Problem
from rankwise.studio.projects import Project, ProjectStore
from rankwise.studio.search_roles import ROLES
from rankwise.studio.security import Guard
from rankwise.studio.settings import MEDIA_TYPES, MEMBERSHIPS, Settings

_STATIC = Path(__file__).parent / "static"
_PROJECT_FILE = "project.rankwise"
# Whatever the environment says: nothing of a survey goes anywhere.
_NO_TELEMETRY: Any = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
_SECONDS_BETWEEN_LOOKS, _SECONDS_OF_SILENCE = 0.1, 15.0


class JobRequest(BaseModel):
    """Which view of a project is wanted."""

    view: str = Field(min_length=1, max_length=40, pattern=r"^[a-z_]+$")
    params: dict[str, Any] = {}


class Change(BaseModel):
    """Options to merge into those of a project; null takes one away."""

    options: dict[str, Any]


class ErrorOut(BaseModel):
    """What is wrong, and what to do."""

    error: str
    cure: str = ""


class FileOut(BaseModel):
    """A file of a project."""

    role: str
    name: str
    size: int


class ProjectOut(BaseModel):
    """A project."""

    id: str
    name: str
    kind: str
    size: int
    options: dict[str, Any]
    version: int
    files: list[FileOut]


class JobOut(BaseModel):
    """A job, with its result once it is done."""

    id: str
    project: str
    view: str
    state: str
    progress: float
    step: str
    error: dict[str, Any] | None
    result: dict[str, Any] | None


class _Json(Response):
    media_type = "application/json"


_ERRORS: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorOut}, "5XX": {"model": ErrorOut}}
_A_JOB: dict[int | str, dict[str, Any]] = {**_ERRORS, 200: {"model": JobOut}}
_A_PROJECT: dict[int | str, dict[str, Any]] = {**_ERRORS, 200: {"model": ProjectOut}}
_A_FILE: dict[int | str, dict[str, Any]] = {
    **_ERRORS,
    202: {"model": JobOut},
    200: {"content": {"application/octet-stream": {}}},
}
_FILE_BODY: dict[str, Any] = {
    "requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
_Id = Annotated[str, PathPart(max_length=40)]
_Name = Annotated[str, Query(max_length=1000)]


def create_app(settings: Settings, queue: JobQueue | None = None) -> Guard:
    """The studio as an ASGI application.

    Parameters
    ----------
    settings : Settings
    queue : JobQueue, optional
        Of jobs; a new one by default.

    Returns
    -------
    Guard
        Its ``app`` is the interface, whose ``state`` has ``store``, ``jobs`` and ``stopping``, which ends open streams.
    """
    store, jobs = ProjectStore(settings), queue or JobQueue(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        jobs.start()
        try:
            yield
        finally:
            app.state.stopping = True
            await run_in_threadpool(jobs.close)

    app = FastAPI(
        title="rankwise studio",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    app.state.store, app.state.jobs, app.state.stopping = store, jobs, False
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(Exception, _unexpected)
    _add_page(app)
    _add_projects(app, store, jobs)
    _add_jobs(app, store, jobs)
    return Guard(app, settings)


def _add_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(_STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=_STATIC), name="static")

    @app.get("/api/examples")
    async def examples() -> list[dict[str, str]]:
        """Built-in examples."""
        from rankwise.studio.examples import EXAMPLES

        return [{"name": name, "title": own.title, "kind": own.kind} for name, own in EXAMPLES.items()]


def _add_projects(app: FastAPI, store: ProjectStore, jobs: JobQueue) -> None:
    @app.post("/api/projects", responses=_A_PROJECT, openapi_extra=_FILE_BODY)
    async def add_project(request: Request, name: _Name = "", example: _Name = "") -> dict[str, Any]:
        """Open a project: the body is the file, as it is; or an example, with an empty body."""
        if example:
            return (await open_example(store, example)).as_dict()
        file = await store.store(request.stream(), name or "pasted.csv")
        return store.add([file], file.name).as_dict()

    @app.post("/api/projects/open", responses=_A_PROJECT, openapi_extra=_FILE_BODY)
    async def open_project(request: Request, name: _Name = _PROJECT_FILE) -> dict[str, Any]:
        """Open a project file that was downloaded before."""
        file = await store.store(request.stream(), name, role="project")
        return (await open_project_file(store, file)).as_dict()

    @app.get("/api/projects/{key}", responses=_A_PROJECT)
    async def get_project(key: _Id) -> dict[str, Any]:
        """A project."""
        return store[key].as_dict()

    @app.patch("/api/projects/{key}", responses=_A_PROJECT)
    async def change_project(key: _Id, change: Change) -> dict[str, Any]:
        """Change how the file of a project is read."""
        project = store[key]
        store.change(project, change.options)
        return project.as_dict()

    @app.delete("/api/projects/{key}", responses=_ERRORS, status_code=204)
    async def remove_project(key: _Id) -> None:
        """Close a project; its jobs end, and its files go."""
        project = store[key]
        jobs.forget_project(project)
        store.remove(project)

    @app.post("/api/projects/{key}/files", responses=_A_PROJECT, openapi_extra=_FILE_BODY)
    async def add_file(request: Request, key: _Id, name: _Name = "", role: _Name = "") -> dict[str, Any]:
        """Add a run or judgments to a search project; the body is the file."""
        project = store[key]
        if role and role not in ROLES:
            raise Problem(422, "There is no such role.", f"Roles are {', '.join(ROLES)}.")
        file = await store.store(request.stream(), name or "run.txt", role)
        store.add_file(project, file)
        return project.as_dict()


def _add_jobs(app: FastAPI, store: ProjectStore, jobs: JobQueue) -> None:
    @app.post("/api/projects/{key}/jobs", responses=_A_JOB)
    async def add_job(key: _Id, wanted: Annotated[JobRequest, Body()]) -> Response:
        """Make a view; the same one that runs or is done already is the same job."""
        return _Json(jobs.submit(store[key], wanted.view, wanted.params).as_json())

    @app.get("/api/jobs/{key}", responses=_A_JOB)
    async def get_job(key: _Id) -> Response:
        """A job, with its result once it is done."""
        return _Json(jobs[key].as_json())

    @app.delete("/api/jobs/{key}", responses=_A_JOB)
    async def cancel_job(key: _Id) -> Response:
        """Cancel a job."""
        jobs.cancel(jobs[key])
        return _Json(jobs[key].as_json())

    @app.get("/api/jobs/{key}/events", responses=_ERRORS)
    async def job_events(key: _Id) -> StreamingResponse:
        """News of a job as server-sent events named "job", until it ends."""
        return StreamingResponse(_events(app, jobs[key]), media_type="text/event-stream")

    @app.get("/api/projects/{key}/download/{name}", responses=_A_FILE)
    async def download(
        key: _Id,
        name: _Id,
        n: Annotated[int | None, Query(ge=1, le=50)] = None,
        model: Annotated[str | None, Query(max_length=40)] = None,
    ) -> Response:
        """A file, once the job that makes it is done; before, 202 with the job to wait for.

        ``n`` and ``model`` are those of the view of segments, for the memberships.
        """
        project = store[key]
        if name == _PROJECT_FILE:
            content = await run_in_threadpool(store.packed, project)
            return Response(content, media_type="application/octet-stream", headers=_attached(project, name))
        if name == MEMBERSHIPS:
            given = {"n": n, "model": model}
            job = jobs.submit(project, "memberships", {key: value for key, value in given.items() if value})
        else:
            job = jobs.submit(project, "files", {})
        if job.state != "done":
            return _Json(job.as_json(), status_code=202)
        # Looked up among the files that the job made: the name that came with the request is not opened.
        made = {path.name: path for path in job.folder.iterdir()}
        if name not in made or made[name].suffix not in MEDIA_TYPES:
            raise Problem(404, f"There is no file {name}.", f"There are {', '.join(sorted(made))}.")
        kind = MEDIA_TYPES[made[name].suffix]
        return FileResponse(made[name], media_type=kind, headers=_attached(project, name))


async def open_example(store: ProjectStore, name: str) -> Project:
    """Open a built-in example as a project."""
    from rankwise.studio.examples import EXAMPLES

    if name not in EXAMPLES:
        raise Problem(404, "There is no such example.", f"There are {', '.join(EXAMPLES)}.")
    example = EXAMPLES[name]
    file = await store.store_bytes(await run_in_threadpool(example.content), example.file)
    return store.add([file], file.name, example.options)


async def open_project_file(store: ProjectStore, file: Any) -> Project:
    """Open a project file that is stored."""
    manifest, contents = await run_in_threadpool(store.unpack, file)
    files = [
        await store.store_bytes(content, listed["name"], listed["role"])
        for listed, content in zip(manifest["files"], contents, strict=True)
    ]
    return store.add(files, manifest["name"], manifest["options"])


async def _events(app: FastAPI, job: Job) -> AsyncIterator[bytes]:
    seen, silence = -1, 0.0
    while not app.state.stopping:
        if job.revision != seen:
            seen, silence = job.revision, 0.0
            has_ended = job.has_ended
            yield b"event: job\ndata: " + job.as_json() + b"\n\n"
            if has_ended:
                return
        elif silence >= _SECONDS_OF_SILENCE:
            silence = 0.0
            yield b": still there\n\n"
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        silence += _SECONDS_BETWEEN_LOOKS


def _attached(project: Project, name: str) -> dict[str, str]:
    """Headers that make a browser save a file, and not show it, under a name of our own."""
    return {"content-disposition": f'attachment; filename="{name}"'}


async def _http_problem(request: Request, error: Exception) -> Response:
    if isinstance(error, Problem):
        return JSONResponse(error.as_dict(), error.status_code, error.headers)
    status = getattr(error, "status_code", 500)
    words = {404: "There is no such address.", 405: "This address does not take such requests."}
    text = words.get(status, str(getattr(error, "detail", error)))
    return JSONResponse({"error": text, "cure": ""}, status)


async def _invalid_request(request: Request, error: Exception) -> Response:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    places = ", ".join(".".join(map(str, problem["loc"])) + f": {problem['msg']}" for problem in problems[:3])
    return JSONResponse({"error": f"The request is not valid: {places}.", "cure": ""}, 422)


async def _unexpected(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"Unexpected problem: {type(error).__name__}.", "cure": "Please report it."}, 500)
