"""Children that do what a test needs; they import little, so that they start at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def child(task: dict[str, Any], connection: Any) -> None:
    """Does what ``params["do"]`` says, as a child of a job."""
    params = task["params"]
    say = lambda **message: connection.send_bytes(json.dumps(message).encode())  # noqa: E731
    if params.get("do") == "sleep":
        os.setsid()
        say(step="sleeping", progress=0.5)
        time.sleep(params.get("seconds", 60))
    if params.get("do") == "wait":
        say(step="waiting", progress=0.5)
        while not Path(params["for"]).exists():
            time.sleep(0.01)
    if params.get("do") == "parent":
        os.setsid()
        started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        say(step=str(started.pid), progress=0.1)
        time.sleep(60)
    if params.get("do") == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if params.get("do") == "fail":
        say(error={"error": "It cannot be done.", "cure": "Do something else.", "choices": []})
        return
    Path(task["out"]).write_text(json.dumps({"blocks": [{"kind": "text", "text": str(params), "tone": "plain"}]}))
    say(done=True)
