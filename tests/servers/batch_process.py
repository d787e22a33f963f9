"""Batches that are killed: a process of few threads forks one for each, with everything loaded before.

Run as a module it reads orders, a line of JSON each, and prints whether the batch was killed before its end.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from ipmicra.app.delegate.batch import Batch
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.store import Store
from ipmicra.model.sample import Rung
from tests.delegating_worlds import seeds_of
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
PATIENT = ConnectionConfig(reconnect_s=PATIENCE_S)
QUICK = ConnectionConfig(synchronous="OFF")
"""The machine stays up, so what a killed process wrote is there."""


@dataclass(frozen=True, kw_only=True)
class BatchOrder:
    """Which batch to run, and where."""

    folder: str
    sites: int
    port: int
    token: str
    policy: str
    budget: int | None
    store: str | None = None
    """The URL of a store elsewhere; by default it is in the folder."""

    def _open_store(self) -> Store:
        if self.store is None:
            return Store.open(str(Path(self.folder) / "state.db"), QUICK)
        return Store.open(self.store, PATIENT)

    def run(self) -> dict[str, str]:
        """Run the batch to its end; return the crawler of each host."""
        found: dict[str, str] = {}
        folder = Path(self.folder)
        options = DelegateOptions(
            policy=self.policy,
            probe_budget=self.budget,
            location="none",
            desk=DeskConfig(samples=1, first_rung=Rung.HEAD, timeout_ms=10_000.0),
            access=AgentAccess(token=self.token),
        )
        with (
            Hierarchy.open(folder / "hierarchy.ipm") as hierarchy,
            self._open_store() as store,
        ):
            batch = Batch(
                store, hierarchy, options, lambda result: found.update({result.host: result.crawler})
            )
            report = batch.run(["seeds"], seeds_of(self.sites, self.port))
        assert report.is_complete
        return found


class BatchProcesses:
    """Runs batches in processes of their own."""

    def __enter__(self) -> Self:
        words = [sys.executable, "-m", "tests.servers.batch_process"]
        self._child = subprocess.Popen(
            words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate()

    def is_killed(self, order: BatchOrder, after_s: float) -> bool:
        """Run a batch and kill it after a while; tell whether it had not ended."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps([asdict(order), after_s]) + "\n")
        self._child.stdin.flush()
        return bool(json.loads(self._child.stdout.readline()))


def killed(order: BatchOrder, after_s: float) -> bool:
    """Do what `is_killed` asks for, in a fork."""
    child = os.fork()
    if not child:
        try:
            order.run()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the parent reads the code
            os._exit(9)
    until_s = time.monotonic() + after_s
    while time.monotonic() < until_s:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return False
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def main() -> None:
    for line in sys.stdin:
        words, after_s = json.loads(line)
        print(json.dumps(killed(BatchOrder(**words), after_s)), flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
