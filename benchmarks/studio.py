"""The studio under load: its start, 50 users at once on views that are made already, its memory, and a large survey.

The server runs in a process of its own, as ``rankwise studio`` starts it; the users are in this one. Percentiles are
over all requests of all users in three rounds. A view of the large survey is timed from sending the file, or from
asking, until the view is there.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, save

USERS, REQUESTS = 50, 200
ITEMS = ("Tea", "Coffee", "Juice", "Water", "Milk", "Cocoa", "Soda", "Cider")


class User:
    """A browser's connection to the studio."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.streams: Any = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The content of an answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port, limit=2**26)
        reader, writer = self.streams
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\nauthorization: Bearer {self.token}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        content = await reader.readexactly(int(re.search(r"content-length: (\d+)", answer)[1]))
        if not answer.startswith("http/1.1 2"):
            raise RuntimeError(answer + content.decode())
        return bytes(content)

    async def view(self, project: str, name: str, **params: Any) -> dict[str, Any]:
        """A view, once it is made."""
        wanted = json.dumps({"view": name, "params": params}).encode()
        job = json.loads(await self.ask("POST", f"/api/projects/{project}/jobs", wanted))
        while job["state"] in ("waiting", "running"):
            await asyncio.sleep(0.02)
            job = json.loads(await self.ask("GET", f"/api/jobs/{job['id']}"))
        if job["state"] != "done":
            raise RuntimeError(str(job["error"]))
        return dict(job)

    async def close(self) -> None:
        """Hang up."""
        if self.streams is not None:
            self.streams[1].close()
            await self.streams[1].wait_closed()


def survey(n: int, rng: np.random.Generator) -> bytes:
    """People of an age and a city, and how they rank eight drinks."""
    worth = np.linspace(1, 0, len(ITEMS)) + rng.gumbel(size=(n, len(ITEMS)))
    places = 1 + np.argsort(np.argsort(-worth, axis=1), axis=1)
    ages, cities = rng.integers(18, 80, n), rng.choice(["Bonn", "Oslo", "Rome"], n)
    lines = ["person,age,city," + ",".join(f"rank_{item}" for item in ITEMS)]
    lines += [f"P{i},{ages[i]},{cities[i]},{','.join(map(str, places[i]))}" for i in range(n)]
    return ("\n".join(lines) + "\n").encode()


def megabytes(pid: int) -> float:
    """Memory of the server, without its children."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def load(port: int, token: str, n_users: int, n_requests: int, views: list[bytes], project: str) -> np.ndarray:
    """The seconds of every request."""

    async def use(number: int) -> list[float]:
        user, seconds = User(port, token), []
        for turn in range(n_requests):
            wanted = views[(number + turn) % len(views)]
            start = time.perf_counter()
            answer = await user.ask("POST", f"/api/projects/{project}/jobs", wanted)
            seconds.append(time.perf_counter() - start)
            if b'"state": "done"' not in answer[:300]:
                raise RuntimeError("the view is not there")
        await user.close()
        return seconds

    return np.concatenate(await asyncio.gather(*(use(number) for number in range(n_users))))


async def waits_during(user: User, work: asyncio.Task[Any]) -> np.ndarray:
    """The seconds that a small request takes while work goes on."""
    seconds = []
    while not work.done():
        start = time.perf_counter()
        await user.ask("GET", "/api/examples")
        seconds.append(time.perf_counter() - start)
        await asyncio.sleep(0.05)
    return np.array(seconds)


async def measure(port: int, token: str, pid: int, quick: bool, seed: int) -> list[dict[str, Any]]:
    rng, rows = np.random.default_rng(seed), []
    user, other = User(port, token), User(port, token)
    project = json.loads(await user.ask("POST", "/api/projects?name=drinks.csv", survey(500, rng)))["id"]
    wanted = [("data", {}), ("consensus", {}), ("pairs", {})]
    for name, params in wanted:
        await user.view(project, name, **params)
    views = [json.dumps({"view": name, "params": params}).encode() for name, params in wanted]
    n_users, n_requests = (10, 20) if quick else (USERS, REQUESTS)
    await load(port, token, n_users, 10, views, project)
    memory, rounds = [megabytes(pid)], []
    start = time.perf_counter()
    for _ in range(3):
        rounds.append(await load(port, token, n_users, n_requests, views, project))
        memory.append(megabytes(pid))
    took, seconds = time.perf_counter() - start, np.concatenate(rounds)
    rows.append(
        {
            "what": f"{n_users} users, {n_requests} cached views each, 3 rounds",
            "median_ms": 1000 * float(np.median(seconds)),
            "p95_ms": 1000 * float(np.quantile(seconds, 0.95)),
            "slowest_ms": 1000 * float(seconds.max()),
            "requests_per_second": len(seconds) / took,
        }
    )
    rows.append({"what": "memory of the server before and after each of 3 rounds", "megabytes": memory})

    n = 10_000 if quick else 100_000
    content = survey(n, rng)
    await user.close()
    user = User(port, token)  # a connection that nobody used for a while is closed
    for name in ("data", "consensus"):
        start = time.perf_counter()
        if name == "data":
            large = json.loads(await user.ask("POST", "/api/projects?name=large.csv", content))["id"]
        work = asyncio.create_task(user.view(large, name))
        waits = await waits_during(other, work)
        size = len(json.dumps((await work)["result"]))
        rows.append(
            {
                "what": f"view {name!r} of {n:,} people",
                "seconds": time.perf_counter() - start,
                "kilobytes": size / 1024,
                "slowest_other_request_ms": 1000 * float(waits.max()),
            }
        )
    await user.close()
    await other.close()
    return rows


def main() -> None:
    options = arguments(__doc__)
    command = [sys.executable, "-m", "rankwise", "studio", "--no-browser", "--port", "0"]
    starts = []
    for _ in range(3):
        start = time.perf_counter()
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        port, token = re.search(r":(\d+)/\?token=([\w-]+)", server.stdout.readline()).groups()
        starts.append(time.perf_counter() - start)
        if len(starts) < 3:
            server.terminate()
            server.communicate()
    try:
        rows = [{"what": "start, until the address is printed", "seconds": min(starts)}]
        rows += asyncio.run(measure(int(port), token, server.pid, options.quick, options.seed))
    finally:
        server.terminate()
        server.communicate()
    for row in rows:
        print(json.dumps(row))
    save("studio", rows, options, ["fastapi", "starlette", "uvicorn"])


if __name__ == "__main__":
    main()
