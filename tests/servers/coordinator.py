"""A real coordinator in a process of its own: `ipmicra serve` on a free port of loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import requests

from ipmicra.app.serve.place import OPERATOR_TOKEN, PLACE
from tests.cli.command_line import ROOT
from tests.patience import PATIENCE_S, wait_until


class RunningCoordinator:
    """Serves a home; started anew as often as a test likes."""

    def __init__(self, home: Path, *words: str, token: str = "", **environment: str) -> None:
        """Name the home, further words of the command, the token of the agents, and further variables."""
        self.home, self._words = home, words
        given = {"IPMICRA_AGENT_TOKEN": token, "IPMICRA_LOG_FORMAT": "json", **environment}
        self._environment = {**os.environ, **given}
        self.prefix: list[str] = []
        """What starts the command, if not the system does."""
        self._log = home / "serve.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.authority: Path | None = None
        """Certificate of whoever signed the coordinator's own, where it has one."""

    def start(self) -> None:
        """Start, and wait until it says where it is."""
        place = self.home / PLACE
        place.unlink(missing_ok=True)
        words = [sys.executable, "-m", "ipmicra", "--home", str(self.home), "serve"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self.prefix, *words, "--listen", "127.0.0.1:0", *self._words],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        wait_until(lambda: place.exists() or not self.is_running, "the coordinator")
        assert self.is_running, self.log()
        self.url = json.loads(place.read_text())["url"]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_running:
            self.kill()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def token(self) -> str:
        return (self.home / OPERATOR_TOKEN).read_text().strip()

    @property
    def trusted(self) -> str | bool:
        return str(self.authority) if self.authority else True

    def stop(self) -> int:
        """Send SIGTERM; return the exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """Send SIGKILL."""
        return self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(PATIENCE_S)

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def log(self) -> str:
        return self._log.read_text()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]

    # --- requests

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        token = more.pop("token", None) or self.token
        headers = {"Authorization": f"Bearer {token}", **more.pop("headers", {})}
        more.setdefault("verify", self.trusted)
        more.setdefault("timeout", PATIENCE_S)
        return requests.request(method, f"{self.url}{path}", headers=headers, **more)

    def get(self, path: str, **parameters: Any) -> requests.Response:
        return self.ask("GET", path, params=parameters)

    def owner(self, host: str) -> dict[str, Any]:
        response = self.get("/v1/owner", host=host)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def owners(self, hosts: list[str]) -> list[dict[str, Any]]:
        response = self.ask("POST", "/v1/owners", data="\n".join(hosts).encode())
        assert response.status_code == 200, response.text
        return [json.loads(line) for line in response.text.splitlines()]
