"""More nodes, more pages per second: the same web crawled by one node, two, four, eight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.lab.crawls.measured import MeasuredCrawl, measure
from ipmicra.lab.crawls.running import running_web, web_world


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedUpConfig:
    """The web: sites that are equally far from every node, so that only their number counts."""

    sites: int = 64
    pages: int = 12
    """Per site."""
    rtt_ms: float = 150.0
    nodes: tuple[int, ...] = (1, 2, 4, 8)


def speed_up(config: SpeedUpConfig) -> list[MeasuredCrawl]:
    """Crawl once for each number of nodes; sites are dealt out in turn."""
    most = max(config.nodes)
    world = web_world(np.full((most, config.sites), config.rtt_ms))
    plan = WebPlan(pages={site.host: config.pages for site in world.sites}, private=False)
    with running_web(world, plan) as place:
        return [measure(place, f"{count} nodes", _dealt(world.sites, count)) for count in config.nodes]


def _dealt(sites: Sequence[object], count: int) -> dict[str, str]:
    return {f"s{i}.example": f"c{i % count}" for i in range(len(sites))}
