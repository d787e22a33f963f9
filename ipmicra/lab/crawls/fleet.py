"""A whole crawl of the demonstration's world: nearest crawler with room, nearest crawler, hash of host names.

Unlike the demonstration it knows the true round trips: it measures what an assignment is worth while
downloading, not how well round trips are guessed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ipmicra.app.build.build import build
from ipmicra.app.report.columns import crawler_by_hash
from ipmicra.assign.balance.auction.assigner import assign_sites
from ipmicra.assign.balance.demand import Demand
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.lab.crawls.measured import MeasuredCrawl, measure
from ipmicra.lab.crawls.running import running_web
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.lab.demo.dumps import sample_dumps
from ipmicra.lab.demo.invent import DemoWorld, invent_world

BALANCE, NEAREST, HASH = "balance", "nearest", "site hash"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetConfig:
    """The crawl."""

    crawlers: int = 5
    sites: int = 60
    pages: int = 600
    """In all, in proportion to those of the world's sites."""
    connections: int = 5
    """Of each crawler; [1] Xu et al. 2010."""
    ways: tuple[str, ...] = (BALANCE, HASH)


def crawl_fleet(config: FleetConfig) -> list[MeasuredCrawl]:
    """Crawl once for each way of assigning the sites."""
    played = _played(config)
    world = played.world
    pages = np.maximum(1, np.round(played.pages * (config.pages / played.pages.sum()))).astype(np.int64)
    hosts = [site.host for site in world.sites]
    names = [crawler.name for crawler in world.crawlers]
    plan = WebPlan(pages=dict(zip(hosts, pages.tolist(), strict=True)))
    demand = Demand(cost_ms=world.rtt_ms.T, load=pages.astype(float), units=np.ones(config.crawlers))
    numbers: dict[str, Sequence[int]] = {
        BALANCE: assign_sites(demand).crawler.tolist(),
        NEAREST: world.rtt_ms.argmin(axis=0).tolist(),
        HASH: crawler_by_hash(hosts, config.crawlers).tolist(),
    }
    with running_web(world, plan, config.connections) as place:
        return [
            measure(place, way, {host: names[i] for host, i in zip(hosts, numbers[way], strict=True)})
            for way in config.ways
        ]


def _played(config: FleetConfig) -> DemoWorld:
    with tempfile.TemporaryDirectory(prefix="ipmicra-fleet-") as name:
        path = Path(name) / "hierarchy.ipm"
        build(sample_dumps(None), path)
        with Hierarchy.open(path) as hierarchy:
            return invent_world(hierarchy, DemoConfig(crawlers=config.crawlers, sites=config.sites))
