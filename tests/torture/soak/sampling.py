"""What is measured every so often: the coordinator's memory, files, threads, stores, and its latencies.

Latencies are taken beside those of a bare route of the same server, question by question. Compared are the
third lowest of each: what else the machine does can only make questions slower, and by far more than a leak
would, but rarely all of twenty. The quotient takes out what is left: how fast the machine is.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ipmicra.wire.links import (
    ExchangeRequest,
    JoinRequest,
    decode_joined,
    encode_exchange,
    encode_join,
)
from tests.cli.command_line import ROOT
from tests.servers.calling_fleet import CallingFleet
from tests.torture.soak.flatness import Level, level_of
from tests.torture.soak.record import Event, Record

ROUNDS, LOW = 20, 2
"""Questions of each kind per sample, and which of them counts, from the lowest on."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
SERIES = {
    "rss_mb": ("memory of the coordinator", "MB", 0.05),
    "files": ("open files", "", 0.10),
    "threads": ("threads", "", 0.10),
    "owner_ratio": ("owner question, × bare route", "", 0.15),
    "exchange_ratio": ("exchange, × bare route", "", 0.15),
}
"""Name, unit, and by how much each may rise."""


class Asking:
    """One connection that is kept open, and opened again if it was closed."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, method: str, path: str, token: str = "", body: bytes | None = None) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        for _ in range(2):
            with suppress(http.client.HTTPException, ConnectionError):
                self._connection.request(method, path, body, headers)
                response = self._connection.getresponse()
                return response.status, response.read()
            self._connection.close()
        raise OSError(f"{path}: no answer")

    def close(self) -> None:
        self._connection.close()


class Sampler:
    """Takes samples of one coordinator; belongs to one thread at a time."""

    def __init__(
        self, fleet: CallingFleet, bare: int, *, token: Callable[[], str], hosts: Sequence[str]
    ) -> None:
        """Ask about hosts that stay, and as a node of a crawler that stays."""
        self._home, self._pid, self._token, self._hosts = fleet.home, fleet.coordinator.pid, token, hosts
        self._asking, self._bare = Asking(int(fleet.coordinator.url.rpartition(":")[2])), Asking(bare)
        self._crawler, self._session = next(iter(fleet.agents), "s1"), ""

    def close(self) -> None:
        self._asking.close()
        self._bare.close()

    def sample(self, record: Record) -> None:
        """Measure once and note it."""
        owner, exchange, bare = self._latencies()
        record.note(
            "sample",
            **process_state(self._pid),
            store_mb=_size_mb(self._home, "state.db"),
            crawls_mb=_size_mb(self._home, "crawls.db"),
            log_mb=_size_mb(self._home, "serve.log"),
            owner_ms=owner,
            exchange_ms=exchange,
            bare_ms=bare,
            owner_ratio=owner / bare,
            exchange_ratio=exchange / bare,
        )
        record.flush()

    def _latencies(self) -> tuple[float, float, float]:
        taken: dict[str, list[float]] = {"owner": [], "exchange": [], "bare": []}
        for number in range(ROUNDS):
            host = self._hosts[number % len(self._hosts)]
            taken["bare"].append(_timed(lambda: self._bare.ask("GET", "/v1/owner?host=a")))
            taken["owner"].append(
                _timed(lambda host=host: self._asking.ask("GET", f"/v1/owner?host={host}", self._token()))  # type: ignore[misc]
            )
            taken["exchange"].append(_timed(self._exchange))
        owner, exchange, bare = (sorted(times)[LOW] for times in taken.values())
        return owner, exchange, bare

    def _exchange(self) -> None:
        request = ExchangeRequest(session=self._session or "none")
        status, _ = self._asking.ask(
            "POST", "/v1/crawls/meter/exchange", self._token(), encode_exchange(request)
        )
        if status == 409:
            self._join()

    def _join(self) -> None:
        request = JoinRequest(node="meter", crawler=self._crawler)
        status, body = self._asking.ask("POST", "/v1/crawls/meter/join", self._token(), encode_join(request))
        if status == 200:
            self._session = decode_joined(body).session


def process_state(pid: int) -> dict[str, Any]:
    """Return memory, processor time, open files and threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return {
        "rss_mb": round(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 1e6, 3),
        "cpu_s": (int(fields[11]) + int(fields[12])) / _TICKS,
        "files": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(fields[17]),
    }


def _timed(action: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    action()
    return (time.perf_counter() - began_s) * 1e3


def _size_mb(home: Path, name: str) -> float:
    """Return the size of a file with its journal."""
    sizes = [path.stat().st_size for path in home.glob(f"{name}*") if not path.name.endswith(".old")]
    return round(sum(sizes) / 1e6, 3)


@contextmanager
def bare_route() -> Iterator[int]:
    """Run a bare route of the same server; yield its port."""
    words = [sys.executable, "-m", "benchmarks.child_bare_route"]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(b'{"crawler":"a"}' + b" " * 300 + b".\n")
            child.stdin.flush()
            yield int(child.stdout.readline())
        finally:
            child.kill()


def levels(events: list[Event]) -> list[Level]:
    """Judge all series of samples."""
    times_s = [one["t"] for one in events]
    return [
        level_of(name, times_s, [one[name] for one in events], limit)
        for name, (_, _, limit) in SERIES.items()
    ]
