"""Answers of a studio that computes nothing: all kinds of blocks and charts, and jobs that take their time.

The browser tests of the page's own work (drawing, keyboard, progress) use it: what they see does not move with the
statistics, and they can ask for states that a quick answer never shows.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import rankwise

HOSTILE = "<img src=x onerror=alert(1)>"
ITEMS = ["Tea", "Coffee", "Orange juice", "Cocoa", "Sparkling water", HOSTILE]
STATIC = Path(rankwise.__file__).parent / "studio" / "static"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
POLICY = "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'"
EXAMPLES = [
    {"name": "drinks", "title": "Drinks: 120 people rank six drinks", "kind": "survey"},
    {"name": "jury", "title": "A jury of nine tastes five wines", "kind": "survey"},
    {"name": "search", "title": "Search results of two systems", "kind": "search"},
]


def pair(i: int, j: int) -> float | None:
    return None if i == j else round(0.5 + 0.08 * (j - i), 2)


def marginal(i: int, j: int) -> float:
    return round(max(0.02, 0.45 - 0.12 * abs(i - j)), 2)


def chart(name: str, title: str, drawing: dict[str, Any], caption: str = "") -> dict[str, Any]:
    return {
        "kind": "chart",
        "id": name,
        "title": title,
        "caption": caption,
        "description": f"{title} in words.",
        "chart": drawing,
    }


def text(sentence: str, tone: str = "plain") -> dict[str, Any]:
    return {"kind": "text", "text": sentence, "tone": tone}


def section(title: str) -> dict[str, Any]:
    return {"kind": "section", "title": title, "id": title.lower().replace(" ", "-")}


def table(name: str, title: str, columns: list[str], rows: list[list[str]], **more: Any) -> dict[str, Any]:
    numeric = [False] + [True] * (len(columns) - 1)
    return {
        "kind": "table",
        "id": name,
        "title": title,
        "note": "",
        "columns": columns,
        "numeric": numeric,
        "rows": rows,
        "folded": False,
        "marked": [],
        **more,
    }


def places(order: list[str], note: str = "") -> dict[str, Any]:
    return {
        "kind": "places",
        "places": [{"place": i + 1, "name": name} for i, name in enumerate(order)],
        "note": note,
    }


MEANS = {
    "type": "dots",
    "rows": [
        {
            "label": name,
            "value": 1.6 + 0.7 * i,
            "low": 1.4 + 0.7 * i,
            "high": 1.8 + 0.7 * i,
            "text": f"{1.6 + 0.7 * i:.2f} ({1.4 + 0.7 * i:.2f} to {1.8 + 0.7 * i:.2f})",
        }
        for i, name in enumerate(ITEMS)
    ],
    "axis": {"label": "mean rank (1 is best)", "low": 1, "high": 6, "zero": 3.5},
}
PAIRS = {
    "type": "heatmap",
    "rows": ITEMS,
    "columns": ITEMS,
    "values": [[pair(i, j) for j in range(6)] for i in range(6)],
    "texts": [["" if i == j else f"{pair(i, j):.0%}" for j in range(6)] for i in range(6)],
    "hints": [
        ["" if i == j else f"{pair(i, j):.0%} put {ITEMS[i]} above {ITEMS[j]}" for j in range(6)] for i in range(6)
    ],
    "scale": "diverging",
    "cell": "pair",
    "items": [3, 1, 0, 2, 4, 5],
}
MARGINALS = {
    "type": "heatmap",
    "rows": ITEMS,
    "columns": [str(j + 1) for j in range(6)],
    "values": [[marginal(i, j) for j in range(6)] for i in range(6)],
    "texts": [[f"{marginal(i, j):.0%}" for j in range(6)] for i in range(6)],
    "hints": [[f"{marginal(i, j):.0%} put {ITEMS[i]} at place {j + 1}" for j in range(6)] for i in range(6)],
    "scale": "share",
    "cell": "place",
    "items": [3, 1, 0, 2, 4, 5],
}
SLOPES = {
    "type": "slopes",
    "columns": ["18 to 24 years", "25 to 49 years", "50 years or older"],
    "rows": [
        {"label": name, "places": [a, b, c]}
        for name, a, b, c in zip(ITEMS, [1, 2, 3, 4, 5, 6], [2, 1, 3, 5, 4, None], [4, 1, 2, 6, 3, 5], strict=True)
    ],
}
MAP = {
    "type": "map",
    "points": [
        {
            "label": f"Rater {i}",
            "x": (i * 37 % 100) / 50 - 1,
            "y": (i * 61 % 100) / 60 - 0.8,
            "group": ["Young", "Old"][i % 2],
            "outlier": i == 7,
            "text": f"Rater {i}: distance 0.{i:02d}",
        }
        for i in range(40)
    ],
}
TREE = {
    "type": "tree",
    "nodes": [
        {
            "id": 0,
            "parent": None,
            "branch": "",
            "title": "How old are you? (in full years)",
            "n": 120,
            "p": "p < 0.001",
            "ranking": ITEMS,
        },
        {
            "id": 1,
            "parent": 0,
            "branch": "younger than 25",
            "title": "",
            "n": 40,
            "p": "",
            "ranking": ITEMS,
        },
        {
            "id": 2,
            "parent": 0,
            "branch": "25 or older",
            "title": "Do you drink coffee at work, at home, or on the way between the two?",
            "n": 80,
            "p": "p = 0.004",
            "ranking": ITEMS[::-1],
        },
        {"id": 3, "parent": 2, "branch": "at work", "title": "", "n": 50, "p": "", "ranking": ITEMS[::-1]},
        {
            "id": 4,
            "parent": 2,
            "branch": "at home or on the way",
            "title": "",
            "n": 30,
            "p": "",
            "ranking": ITEMS[3:] + ITEMS[:3],
        },
    ],
}
LINES = {
    "type": "lines",
    "x": [1, 2, 3, 4, 5],
    "x_label": "number of segments",
    "y_label": "BIC (lower is better)",
    "series": [{"label": "BIC", "y": [2210.0, 2105.5, 2080.2, 2093.0, 2120.9], "low": None, "high": None}],
    "marked": 2,
}
CURVES = {
    "type": "lines",
    "x": [10, 20, 40, 80],
    "x_label": "answers",
    "y_label": "share that is right",
    "series": [
        {
            "label": name,
            "y": [0.5 + d, 0.6 + d, 0.75 + d, 0.8 + d],
            "low": [0.4 + d, 0.55 + d, 0.7 + d, 0.77 + d],
            "high": [0.6 + d, 0.65 + d, 0.8 + d, 0.83 + d],
        }
        for name, d in (("Kemeny", 0.0), ("Borda", 0.1))
    ],
    "marked": None,
}
BARS = {
    "type": "bars",
    "rows": [
        {"label": "How old are you?", "value": 0.21, "text": "0.21"},
        {"label": "Hours of sleep", "value": 0.05, "text": "0.05"},
        {"label": "Where do you live?", "value": 0.0, "text": "0.00"},
    ],
    "axis": {"label": "importance"},
}
RATERS = [[f"Rater {i}", f"{0.1 + 0.02 * i:.2f}", f"{0.8 - 0.02 * i:.2f}"] for i in range(12)]


def data(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    layout = options.get("layout") or "positions"
    roles = {"Age": "feature", "City": "group", "id": "ignore", "Sleep": "feature", "w": "weight", "who": "name"}
    for role, option in (("group", "by"), ("weight", "weight"), ("name", "id")):
        if option in options:
            roles = {column: "feature" if each == role else each for column, each in roles.items()}
            roles |= {options[option]: role} if options[option] else {}
    preview = [[str((i + j) % 6 + 1) for j in range(6)] + ["18-24", f"R_{i}"] for i in range(5)]
    return {
        "columns": [{"name": n, "title": "", "role": "ranking", "examples": ["1", "4"], "why": ""} for n in ITEMS]
        + [{"name": n, "title": "", "role": r, "examples": ["18-24"], "why": "a category"} for n, r in roles.items()],
        "reading": {"layout": layout, "direction": "1 is best", "blanks": "missing"}
        | {"unlisted": options.get("unlisted", "missing")},
        "filters": [{"column": "Finished", "answers": [{"value": "yes", "n": 118}, {"value": "no", "n": 2}]}],
        "problem": None,
        "blocks": [
            text(f"120 people rank 6 items; the cells are read as {layout}.", "lead"),
            {
                "kind": "tiles",
                "tiles": [
                    {"label": "People", "value": "120", "detail": "2 blank rows left out"},
                    {"label": "Items", "value": "6", "detail": ""},
                    {"label": "Ties", "value": "3", "detail": "in 2 rows"},
                ],
            },
            section("Data check"),
            text("Two rows are the same.", "warning"),
            table("preview", "The first 5 rows of the file", [*ITEMS, "Age", "id"], preview),
        ],
    }


def unclear() -> dict[str, Any]:
    choices = [
        {"label": label, "options": {"layout": way}}
        for label, way in (("These are places: 1 is best", "positions"), ("These are scores", "scores"))
    ]
    problem = {"error": "The cells may be places or scores.", "cure": "", "choices": choices}
    preview = table("preview", "The first row of the file", ["Tea", "Coffee"], [["1", "2"]])
    return {"blocks": [preview], "columns": [], "reading": None, "filters": [], "problem": problem}


def consensus(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    chosen = params.get("methods", ["kemeny", "borda"])
    order = ITEMS[1:2] + ITEMS[:1] + ITEMS[2:] if options.get("leave_out") else ITEMS
    return {
        "method": "kemeny",
        "methods": chosen,
        "blocks": [
            text(f"{order[0]} comes first.", "lead"),
            places(order, "Proven: no order fits the answers better."),
            chart("mean_ranks", "Mean ranks", MEANS, "Lines are 95% intervals."),
            {"kind": "section", "id": "rules-section", "title": "Would another rule change the ranking?"},
            table(
                "rules", "", ["Item", *chosen], [[name] + [str(i + 1)] * len(chosen) for i, name in enumerate(ITEMS)]
            ),
            table("all", "All numbers", ["Item", "Mean", "Top 1"], [[n, "2.3", "41%"] for n in ITEMS], folded=True),
        ],
    }


def raters(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    out = options.get("leave_out", [])
    rows = [[name, "", ""] for name in out] + [row for row in RATERS if row[0] not in out]
    toggle = {"option": "leave_out", "ids": [row[0] for row in rows], "off": out, "label": "Counts"}
    return {
        "blocks": [
            text("One person stands apart.", "lead"),
            table("people", "People one by one", ["name", "agrees", "tau"], rows, toggle=toggle),
            chart("map", "Map of raters", MAP, "Raters who rank alike are near each other."),
        ],
    }


def segments(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    n = 3 if params.get("n", "bic") == "bic" else params["n"]
    each = [block for i in range(n) for block in (section(f"Segment {i + 1}"), places(ITEMS[i:] + ITEMS[:i]))]
    return {
        "n": n,
        "blocks": [text(f"There are {n} segments.", "lead"), chart("bic", "How many segments", LINES), *each],
    }


def groups(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    by = params.get("by", "Age")
    return {
        "columns": [{"value": name, "label": name} for name in ("Age", "City")],
        "by": by,
        "blocks": [
            text(f"Groups of {by} rank differently (p = 0.001).", "lead"),
            chart("slopes", "Places by group", SLOPES),
            table("groups", "Places", ["Item", "18-24", "50+"], [[n, "1", "2"] for n in ITEMS], marked=[0]),
        ],
    }


def drivers(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    return {
        "blocks": [
            chart("tree", "Tree", TREE, "Read from the top."),
            chart("importances", "Importances", BARS),
            chart("curves", "Curves", CURVES),
        ],
        "form": [
            {"name": "Age", "title": "How old are you?", "type": "number", "low": 18, "high": 90, "middle": 30},
            {"name": "Home", "title": "Where do you live?", "type": "choice", "answers": ["Town", "Country"]},
        ],
    }


def pairs(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    return {"blocks": [chart("pairs", "Who is above whom", PAIRS), chart("places", "Share at each place", MARGINALS)]}


def cell(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    return {"blocks": [text(f"asked: {json.dumps(params)}"), table("who", "", ["Name", "n"], [["Ada", "1"]])]}


def predict(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    asked = [text(f"asked: {json.dumps(params, sort_keys=True)}"), places(ITEMS[::-1])]
    return {
        "blocks": asked,
        "code": {"python": "forest.predict(person)", "command": "rankwise predict model.rankwise -"},
    }


def robustness(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    return {"blocks": [text("Two votes would change the winner.", "lead")]}


def downloads(options: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    python = 'from rankwise.data import read_survey\n\nsurvey = read_survey("drinks.csv")'
    code = {"python": python, "command": "rankwise report drinks.csv"}
    return {"blocks": [text("120 rankings.", "lead")], "code": code}


VIEWS = {
    function.__name__: function
    for function in (data, consensus, raters, segments, groups, drivers, pairs, cell, predict, robustness, downloads)
}


class Studio(BaseHTTPRequestHandler):
    """The HTTP interface of the studio over the canned answers; a file called slow.csv gives jobs that wait."""

    projects: dict[str, dict[str, Any]]
    jobs: dict[str, dict[str, Any]]
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, content: Any, status: int = 200, kind: str = "application/json") -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", len(body)), ("Cache-Control", "no-store")):
            self.send_header(name, str(value))
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def route(self) -> None:
        address = urlsplit(self.path)
        path = [unquote(part) for part in address.path.strip("/").split("/")]
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        body = self.body()
        if self.command == "POST":
            self.post(path, query, body)
        elif path[0] != "api":
            file = STATIC / (path[1] if path[0] == "static" else "index.html")
            self.answer(file.read_bytes() if file.is_file() else b"", kind=TYPES.get(file.suffix, ""))
        elif path[1] == "examples":
            self.answer(EXAMPLES)
        elif path[1] == "jobs":
            self.job(path)
        elif path[2] not in self.projects:
            self.answer({"error": "There is no such project.", "cure": "Give the file again."}, 404)
        elif path[-2] == "download":
            self.answer(path[-1].encode(), kind="application/octet-stream")
        else:
            given = json.loads(body)["options"] if self.command == "PATCH" else {}
            options = self.projects[path[2]]["options"] | given
            self.projects[path[2]]["options"] = {key: value for key, value in options.items() if value is not None}
            self.answer(self.projects[path[2]])

    def job(self, path: list[str]) -> None:
        job = self.jobs[path[2]]
        if path[-1] == "events":
            return self.events(job)
        if self.command == "DELETE":
            job["state"] = "cancelled"
        return self.answer(job)

    def post(self, path: list[str], query: dict[str, str], body: bytes) -> None:
        if path[-1] != "jobs":
            if body.startswith(b"bad"):
                return self.answer({"error": "The file holds no table.", "cure": "Save it as CSV."}, 422)
            name = query.get("name") or f"{query.get('example')}.csv"
            project = {"id": f"p{len(self.projects)}", "name": name, "kind": "survey", "size": len(body)}
            self.projects[project["id"]] = project | {"options": {}, "version": 0, "files": []}
            return self.answer(self.projects[project["id"]])
        project = self.projects[path[2]]
        asked = json.loads(body)
        key = json.dumps([path[2], project["options"], asked], sort_keys=True)
        name = next((name for name, job in self.jobs.items() if job["key"] == key and job["state"] == "running"), "")
        if not name:
            name = f"j{len(self.jobs)}"
            job = {"id": name, "key": key, "project": path[2], "view": asked["view"], "progress": 0.0, "step": ""}
            self.jobs[name] = job | {"state": "running", "result": None, "error": None, "started": time.monotonic()}
            if project["name"] != "slow.csv":
                self.complete(self.jobs[name], project["options"], asked)
        return self.answer(self.jobs[name])

    def complete(self, job: dict[str, Any], options: dict[str, Any], asked: dict[str, Any]) -> None:
        if asked["view"] == "robustness" and self.projects[job["project"]]["name"] == "broken.csv":
            return job.update(state="failed", error={"error": "There is one person only.", "cure": "Add more."})
        if self.projects[job["project"]]["name"] == "unclear.csv" and "layout" not in options:
            return job.update(state="done", progress=1.0, result=unclear())
        return job.update(state="done", progress=1.0, result=VIEWS[asked["view"]](options, asked["params"]))

    def events(self, job: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while True:
            if job["state"] == "running":
                passed = time.monotonic() - job["started"]
                job.update(progress=passed / (passed + 10), step=f"Step {int(passed) + 1}")
            try:
                self.wfile.write(f"event: job\ndata: {json.dumps(job)}\n\n".encode())
                self.wfile.flush()
            except OSError:
                return
            if job["state"] != "running":
                return
            time.sleep(0.2)


for command in ("GET", "POST", "PATCH", "DELETE"):
    setattr(Studio, f"do_{command}", Studio.route)


@contextmanager
def canned_studio(port: int = 0) -> Iterator[str]:
    """Address of a canned studio on this machine."""
    handler = type("Handler", (Studio,), {"projects": {}, "jobs": {}})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
