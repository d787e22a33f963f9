"""Run a loopback world in a subprocess, so that the measuring process does not delay what it measures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

from ipmicra.errors import IpmicraError

STOP_S = 10.0
"""How long a stop may take before the process is killed."""


class InternetProcess:
    """Runs the world of a folder as a context; the subprocess ends with ours, even if ours is killed."""

    def __init__(self, folder: Path, log: Path, hits: Path | None = None) -> None:
        """Name the folder of the world, a file for the errors of the subprocess, and one for pages served."""
        self._folder, self._log = folder, log
        self._hits = hits
        self._child: subprocess.Popen[str] | None = None
        self.port = 0
        """Of all sites."""
        self.token = ""
        """The token of the agents."""
        self.urls: dict[str, str] = {}
        """Of the agents, by crawler."""

    def __enter__(self) -> Self:
        """Start, and wait until servers and agents are ready."""
        with self._log.open("w", encoding="utf-8") as log:
            self._child = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "ipmicra.edge.loopback", str(self._folder), *self._words()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self._listen(self._child)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _words(self) -> list[str]:
        return [] if self._hits is None else [str(self._hits)]

    def _listen(self, child: subprocess.Popen[str]) -> None:
        line = child.stdout.readline() if child.stdout else ""
        if not line:
            words = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            reason = words[-1] if words else "no reason was given"
            raise IpmicraError(f"the servers and agents on loopback did not start: {reason}")
        ready: dict[str, Any] = json.loads(line)
        self.port, self.token, self.urls = ready["port"], ready["token"], ready["urls"]

    @property
    def is_running(self) -> bool:
        """Whether the subprocess is still alive."""
        return self._child is not None and self._child.poll() is None

    def __exit__(self, *_error: object) -> None:
        """Stop by closing its standard input."""
        child, self._child = self._child, None
        if child is None:
            return
        try:
            child.communicate(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
