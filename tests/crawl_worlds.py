"""A small web on loopback and the words that make `ipmicra crawl` fetch it, for tests."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.edge.loopback.web_server import Hit
from tests.loopback_worlds import small_world

PAGES = {"s0.example": 12, "s1.example": 9, "s2.example": 5}
QUICK = WebPlan(pages=PAGES, wait_ms=1.0, line_bps=100_000_000.0)


@dataclass(frozen=True)
class LoopbackWeb:
    """A web that runs, and a folder for what crawls it."""

    internet: LoopbackInternet
    folder: Path

    @property
    def hits(self) -> list[Hit]:
        web = self.internet.servers.web
        assert web is not None
        return web.hits

    @property
    def pages(self) -> list[tuple[str, str]]:
        """Pages that were served, whole or unchanged, in order."""
        web = self.internet.servers.web
        assert web is not None
        return [(hit.host, hit.path) for hit in self.hits if web.pages.number_of(hit.path) is not None]

    def seed(self, number: int) -> str:
        return f"http://s{number}.example:{self.internet.port}/"

    def words(self, *seeds: int, crawler: str = "ath") -> list[str]:
        """Arguments of a crawl that starts at some sites, without politeness."""
        world = self.internet.world
        places = world.addresses()
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"{places[site.address]} {site.host}\n" for site in world.sites))
        return [
            *("--home", str(self.folder / "home"), "crawl", *map(self.seed, seeds)),
            *("--hosts", str(hosts), "--bind", str(world.sources()[crawler])),
            *("--delay", "0", "--per-block", "8", "--json"),
        ]

    def rows(self, name: str, node: str = "node") -> list[dict[str, str]]:
        """Read a table of the node's folder."""
        with (self.folder / "home" / "crawl" / node / name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


@contextmanager
def loopback_web(folder: Path, plan: WebPlan = QUICK) -> Iterator[LoopbackWeb]:
    """Run a web whose sites are a few milliseconds away."""
    world = small_world(len(plan.pages))
    rtt_ms = dict.fromkeys(world.rtt_ms, 2.0)
    with LoopbackInternet(replace(world, rtt_ms=rtt_ms, web=plan)) as internet:
        yield LoopbackWeb(internet, folder)
