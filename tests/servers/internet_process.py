"""A loopback world in a process of its own: it outlives coordinators that are killed.

Run as a module it prints where its agents are; for each line it reads it prints the requests that each site
has had.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.model.address import Address, read_address
from ipmicra.model.crawler import Crawler
from tests.delegating_worlds import split_world

STEP_MS = 12.0
"""Who is nearest is not asked here, so measuring may be quick and rough."""
ROOT = Path(__file__).parents[2]


@dataclass
class InternetProcess:
    """The world as the test sees it."""

    sites: int
    crawlers: int
    step_ms: float = STEP_MS

    def __enter__(self) -> Self:
        command = [
            sys.executable,
            "-m",
            "tests.servers.internet_process",
            str(self.sites),
            str(self.crawlers),
            str(self.step_ms),
        ]
        self._child = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ready = self._line()
        self.port: int = self.ready["port"]
        self.access = AgentAccess(token=self.ready["token"])
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.communicate()

    @property
    def world(self) -> LoopbackWorld:
        return split_world(self.sites, self.crawlers, self.step_ms)

    def fleet(self) -> list[Crawler]:
        urls: dict[str, str] = self.ready["urls"]
        return [
            Crawler(name=one.name, address=one.address, agent_url=urls[one.name], location=one.location)
            for one in self.world.crawlers
        ]

    def requests(self) -> dict[Address, int]:
        assert self._child.stdin is not None
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        return {read_address(address): count for address, count in self._line().items()}

    def _line(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        content: dict[str, Any] = json.loads(self._child.stdout.readline())
        return content


def main() -> None:
    sites, crawlers = map(int, sys.argv[1:3])
    with LoopbackInternet(split_world(sites, crawlers, float(sys.argv[3]))) as internet:
        urls = {crawler.name: crawler.agent_url for crawler in internet.crawlers.values()}
        print(json.dumps({"port": internet.port, "token": internet.token, "urls": urls}), flush=True)  # noqa: T201 - the test reads it
        for _ in sys.stdin:
            counts = {str(address): count for address, count in internet.servers.requests.items()}
            print(json.dumps(counts), flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
