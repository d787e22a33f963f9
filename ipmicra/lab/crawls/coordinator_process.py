"""Run a coordinator in a subprocess, for crawls that are measured."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ipmicra.app.serve.place import PLACE
from ipmicra.errors import IpmicraError

START_S, STOP_S = 60.0, 10.0


@contextmanager
def running_coordinator(home: Path) -> Iterator[str]:
    """Serve a home until the context ends; return the URL."""
    log = home / "serve.log"
    words = [sys.executable, "-m", "ipmicra", "--home", str(home), "serve", "--listen", "127.0.0.1:0"]
    with log.open("wb") as file:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file)  # noqa: S603 - ours
    try:
        yield _url(child, home / PLACE, log)
    finally:
        child.terminate()
        try:
            child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _url(child: subprocess.Popen[bytes], place: Path, log: Path) -> str:
    deadline_s = time.monotonic() + START_S
    while not place.is_file():
        if child.poll() is not None or time.monotonic() > deadline_s:
            said = log.read_text(errors="replace").strip().splitlines()
            raise IpmicraError(f"the coordinator did not start: {said[-1] if said else 'it said nothing'}")
        time.sleep(0.05)
    return str(json.loads(place.read_bytes())["url"])
