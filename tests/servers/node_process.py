"""A node as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S
from tests.servers.loopback_web import LoopbackWeb

ROOT = Path(__file__).parents[2]


class NodeProcess:
    """A running spider of `tests/servers/spider.py`."""

    def __init__(
        self,
        web: LoopbackWeb,
        name: str,
        settings: dict[str, Any],
        starts: Sequence[str],
        log: Path,
        more: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        """Start it; `more` are further variables, `prefix` is what starts it, if not the system does."""
        self.name = name
        self.log = log
        given = {"settings": {"USER_AGENT": name, **settings}, "starts": list(starts)}
        path = os.pathsep.join([*os.environ.get("PYTHONPATH", "").split(os.pathsep), str(ROOT)]).strip(
            os.pathsep
        )
        own = {"NODE": json.dumps(given), "PYTHONPATH": path, **(more or {})}
        environment = os.environ | web.environment | own
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "tests.servers.spider"],
                env=environment,
                stderr=file,
                stdout=file,
            )

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(PATIENCE_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)

    @property
    def text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")
