"""`serve`: start the studio, open the browser, and leave nothing behind at the end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from rankwise.studio.problems import Problem
from rankwise.studio.projects import Project, ProjectStore
from rankwise.studio.routes import create_app, open_project_file
from rankwise.studio.settings import LOOPBACK, Settings

_FIRST_PORT = 8765
_SECONDS_TO_END = 2
_PIECE = 1 << 20


def serve(
    file: str | None = None,
    *,
    say: Callable[[str], None] = print,
    port: int | None = None,
    browser: bool = True,
    **settings: Any,
) -> None:
    """Run the studio until it is interrupted.

    Parameters
    ----------
    file : str, optional
        A file to open: data, or a project file.
    say : callable
        Where the address is told.
    port : int, optional
        Where to listen; by default 8765, or any other that is free.
    browser : bool, default=True
        Whether to open the page in a browser.
    **settings
        Further attributes of `Settings`.
    """
    with _temporary_folder() as folder, listen(settings.get("host", LOOPBACK), port) as listener:
        own = Settings(folder, secrets.token_urlsafe(32), port=listener.getsockname()[1], **settings)
        app = create_app(own)
        opened = None if file is None else asyncio.run(open_file(app.app.state.store, file))
        address = f"{own.origin}/?token={own.token}" + (f"#/{opened.id}/data" if opened else "")
        config = uvicorn.Config(
            app,
            log_level="error",  # what strangers try is no news for the user
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        server = _Server(config, app.app, lambda: _announce(address, say, browser))
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it, and no problem
            server.run(sockets=[listener])


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at a port, or at the usual one or any other that is free if none is given."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in (_FIRST_PORT, 0) if port is None else (port,):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(128)
        except OSError as error:
            listener.close()
            if port is not None:
                raise OSError(
                    f"cannot listen at port {port} of {host}: {(error.strerror or str(error)).lower()}; "
                    "choose another --port, or leave it out"
                ) from None
        else:
            return listener
    raise OSError(f"cannot listen at {host}; give an address of this machine")


async def open_file(store: ProjectStore, file: str) -> Project:
    """Open a file of this machine, which the user named when the studio was started."""

    async def pieces() -> Any:
        with open(file, "rb") as stream:
            left = store.settings.max_body
            while piece := stream.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    raise ValueError(f"{file} is larger than {store.settings.max_body / 2**20:g} MB")
                yield piece

    if Path(file).is_dir():
        raise ValueError(f"{file} is a folder; give a file")
    try:
        stored = await store.store(pieces(), file, role="project" if file.endswith(".rankwise") else "")
        if stored.role == "project":
            return await open_project_file(store, stored)
        return store.add([stored], stored.name)
    except Problem as problem:
        cause = problem.__cause__
        if isinstance(cause, FileNotFoundError):
            raise ValueError(f"there is no file {file}") from None
        raise ValueError(
            f"{file} cannot be read: {cause.strerror if isinstance(cause, OSError) else problem.error}"
        ) from None


class _Server(uvicorn.Server):
    """A server that tells when it is ready, and ends open streams as soon as it is told to end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.app, self.on_ready = app, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.app.state.stopping = True
        super().handle_exit(sig, frame)


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A private folder that goes at the end, also when the process is asked to end or its terminal closes."""
    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    in_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, _exit) for number in signals} if in_main else {}
    folder = Path(tempfile.mkdtemp(prefix="rankwise-studio-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _announce(address: str, say: Callable[[str], None], browser: bool) -> None:
    say(f"The studio is at {address}")
    say("Press Ctrl-C to end it.")
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
