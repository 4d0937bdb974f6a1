"""`Guard`: who may talk to the studio, and how long and how much; it stands before everything else.

The loopback is no border: any page that is open in the browser can send requests to it, and any name can be made to
lead to it. So a request must name the studio as its host, must not come from another page, and must bring the secret of
this run. The secret comes once in the address, goes into a cookie that scripts cannot read and other sites cannot
send, and is gone from the address bar. Cookies know no ports, so the cookie is named after the port: two studios do not
overwrite each other's.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from rankwise.studio.problems import Problem
from rankwise.studio.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

#: bytes of a request that is no file
MAX_JSON = 256 * 1024
_SECONDS_BETWEEN_LOOKS = 0.3
# Requests whose body is a file: the ends of their paths.
_FILE_BODIES = ("/api/projects", "/api/projects/open", "/files")

_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_HEADERS_AS_BYTES = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]


class Guard:
    """ASGI middleware that lets through only what this run of the studio allows, and adds headers to every answer.

    Parameters
    ----------
    app : ASGI application
        The studio.
    settings : Settings
    """

    def __init__(self, app: Any, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.cookie = f"rankwise_studio_{settings.port}"
        self.token = settings.token.encode()
        self.hosts = {f"{host}:{settings.port}" for host in _own_names(settings)}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            headers = _unique_headers(scope["headers"])
            self._check_sender(headers)
            handed_over = self._token_handed_over(scope)
            if handed_over:
                await _send_redirect(send, f"{self.cookie}={self.settings.token}; Path=/; HttpOnly; SameSite=Strict")
                return
            self._check_token(headers)
            limited = self._limited(scope, headers, receive)
        except Problem as problem:
            await send_problem(send, problem)
            return
        await self.app(scope, limited, _with_headers(send))

    def _check_sender(self, headers: dict[str, str]) -> None:
        """Refuse requests to another name, and from another page."""
        host = headers.get("host", "").lower()
        if host not in self.hosts and not (self.settings.allow_remote and _is_address(host, self.settings.port)):
            raise Problem(
                421, "This server does not answer to that name.", "Open the address that the command printed."
            )
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}":
            raise Problem(403, "Requests from other pages are refused.")
        # Browsers say where a request comes from; "none" is the user, by the address bar or a bookmark.
        if headers.get("sec-fetch-site", "none").lower() not in ("same-origin", "none"):
            raise Problem(403, "Requests from other pages are refused.")

    def _token_handed_over(self, scope: Message) -> bool:
        """Whether the address of the page holds the right token; a wrong one is refused."""
        if scope["path"] != "/" or scope["method"] != "GET" or b"token=" not in scope["query_string"]:
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if not self._is_token(given[-1]):
            raise _no_token()
        return True

    def _check_token(self, headers: dict[str, str]) -> None:
        bearer = headers.get("authorization", "")
        if bearer.lower().startswith("bearer ") and self._is_token(bearer[7:].strip()):
            return
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            morsel = None
        if morsel is None or not self._is_token(morsel.value):
            raise _no_token()

    def _is_token(self, given: str) -> bool:
        # In constant time, so that a wrong token does not tell how much of it is right.
        return secrets.compare_digest(given.encode("utf-8", "replace"), self.token)

    def _limited(self, scope: Message, headers: dict[str, str], receive: Receive) -> Receive:
        """``receive`` that refuses a body that is too large, as announced or as it comes, or takes too long."""
        is_file = scope["method"] == "POST" and scope["path"].rstrip("/").endswith(_FILE_BODIES)
        most = self.settings.max_body if is_file else MAX_JSON
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            raise Problem(400, "The length of the request is not a number.")
        if int(length) > most:
            raise _too_large(most)
        deadline = asyncio.get_running_loop().time() + self.settings.body_seconds
        received, complete = 0, False

        async def limited() -> Message:
            nonlocal received, complete
            if complete:  # what comes now is that the client has gone
                return await receive()
            message = await self._next_message(receive, deadline)
            received += len(message.get("body", b""))
            if received > most:
                raise _too_large(most)
            complete = not message.get("more_body", False)
            return message

        return limited

    async def _next_message(self, receive: Receive, deadline: float) -> Message:
        """What comes next of a request; a studio that is told to end does not wait for it."""
        now = asyncio.get_running_loop().time
        while not self.app.state.stopping:
            try:
                async with asyncio.timeout_at(min(deadline, now() + _SECONDS_BETWEEN_LOOKS)):
                    return await receive()
            except TimeoutError:
                if now() < deadline:
                    continue
                seconds = f"{self.settings.body_seconds:g} seconds"
                raise Problem(408, f"The request took longer than {seconds} to arrive.", "Try again.") from None
        raise Problem(503, "The studio has been ended.", "Start it again: rankwise studio")


async def send_problem(send: Send, problem: Problem) -> None:
    """Answer with a problem, and close the connection: what is left of the request is not read."""
    body = json.dumps(problem.as_dict()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close"), *_HEADERS_AS_BYTES]
    await send({"type": "http.response.start", "status": problem.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send_redirect(send: Send, cookie: str) -> None:
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0"), *_HEADERS_AS_BYTES]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in _HEADERS_AS_BYTES}
            kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in own]
            message = {**message, "headers": [*kept, *_HEADERS_AS_BYTES]}
        await send(message)

    return sending


def _unique_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by name; one that decides here must not come twice, with two meanings."""
    found: dict[str, str] = {}
    for name, value in pairs:
        key = name.decode("latin-1").lower()
        if key in found and key in ("host", "origin", "sec-fetch-site", "content-length", "authorization"):
            raise Problem(400, f"The header {key} comes twice.")
        separator = "; " if key == "cookie" else ", "
        text = value.decode("latin-1")
        found[key] = f"{found[key]}{separator}{text}" if key in found else text
    return found


def _own_names(settings: Settings) -> set[str]:
    names = {"127.0.0.1", "localhost", "[::1]"}
    if settings.allow_remote:
        names |= {socket.gethostname().lower(), settings.host.lower()}
    return names


def _is_address(host: str, port: int) -> bool:
    """Whether a host is a number with our port: no name can be made to lead elsewhere then."""
    name, _, own_port = host.rpartition(":")
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return own_port == str(port)


def _no_token() -> Problem:
    return Problem(
        401,
        "This page belongs to one run of rankwise studio, and the key of that run is missing or wrong.",
        "Open the address that the command printed; it holds the key.",
    )


def _too_large(most: int) -> Problem:
    size = f"{most / 2**20:g} MB" if most >= 2**20 else f"{most / 2**10:g} kB"
    return Problem(413, f"The file is larger than {size}.", "Leave out columns or rows that are not needed.")
