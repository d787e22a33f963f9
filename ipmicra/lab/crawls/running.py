"""Run a loopback web in a subprocess for crawls that are measured, in a folder that goes afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path

import numpy as np

from ipmicra.delegate.replay.world import World
from ipmicra.edge.files.worlds.load import save_world
from ipmicra.edge.loopback.internet_process import InternetProcess
from ipmicra.edge.loopback.loopback_world import load_world
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.lab.crawls.measured import CrawlPlace
from ipmicra.lab.crawls.nodes import stop_forkserver
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import Floats


def web_world(rtt_ms: Floats) -> World:
    """Make a world of round trips, (crawler, site); each site has an address block of its own."""
    crawlers, sites = rtt_ms.shape
    return World(
        "web",
        tuple(Crawler(name=f"c{i}", address=IPv4Address("198.51.100.1") + i) for i in range(crawlers)),
        tuple(Site(f"s{i}.example", IPv4Address(0x0B000001 + (i << 8))) for i in range(sites)),
        np.asarray(rtt_ms, np.float64).round(3),
        (None,) * sites,
        (None,) * sites,
    )


@contextmanager
def running_web(world: World, plan: WebPlan, connections: int = 5) -> Iterator[CrawlPlace]:
    """Serve a plan until the context ends."""
    with tempfile.TemporaryDirectory(prefix="ipmicra-web-") as name:
        folder = Path(name)
        save_world(world, folder / "world", [plan.pages[site.host] for site in world.sites])
        plan.save(folder / "world")
        hits = folder / "hits.csv"
        with InternetProcess(folder / "world", folder / "log", hits) as internet:
            place = CrawlPlace(
                world=load_world(folder / "world"),
                port=internet.port,
                hits=hits,
                folder=folder / "crawls",
                connections=connections,
            )
            try:
                yield place
            finally:
                stop_forkserver()


def with_connections(place: CrawlPlace, connections: int, per_slot: int | None = None) -> CrawlPlace:
    """Return the same place for crawlers with another number of connections."""
    return replace(place, connections=connections, per_slot=per_slot)
