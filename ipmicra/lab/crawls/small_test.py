"""The small test of Xu et al. 2010, section 5.1, as real crawls: six schemes on one loopback web.

As in the paper, a crawler keeps one persistent connection to each of its sites and asks for one page at a
time, all sites are crawled at once, and none waits in a queue. Round trips, providers and cities are those of
the simulation (`lab/churn/small_test.py`); the politeness wait is the server's. There are fewer sites than in
the paper, because one machine plays them and all crawlers: 203 sites would be a thousand pages per second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ipmicra.edge.loopback.web_pages import WebPages
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.edge.loopback.web_server import Hit, read_hits
from ipmicra.lab.churn.small_test import SmallConfig, small_choices, small_throughput, small_world
from ipmicra.lab.crawls.measured import measure
from ipmicra.lab.crawls.running import running_web, web_world, with_connections

MEGABIT = 1e6
ORDER = {"rtt-worst": "worst", "rtt-best": "best", "nc-can": "between"}
"""What the paper's figure 7 shows; it has no numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeCrawl:
    """One scheme: what was measured, and what the simulation says about the same sites and crawlers."""

    scheme: str
    measured_mbps: float
    """Sum over the sites of their bytes over their time, as equation 6 has it."""
    simulated_mbps: float
    difference: float
    half_rtt_ms: float
    published: str
    processor: float
    """Share of the machine's processors in use, by everybody."""

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def crawl_small_test(
    config: SmallConfig, pages: int, seed: int, say: Callable[[str], object]
) -> list[SchemeCrawl]:
    """Crawl a web once for each scheme."""
    rng = np.random.default_rng(seed)
    drawn = small_world(config, rng)
    choices = small_choices(drawn, config, rng)
    world = web_world(drawn.to_sites_ms)
    plan = WebPlan(
        pages={site.host: pages for site in world.sites},
        seed=seed,
        page_bytes=config.page_bytes,
        line_bps=config.bandwidth_mbps * MEGABIT,
        wait_ms=config.polite_wait_ms,
        pages_per_connection=0,
        leaving=0.0,
        private=False,
    )
    found = []
    with running_web(world, plan) as running:
        # Each crawler has as many connections as sites, one for each: no site waits.
        place = with_connections(running, config.sites, per_slot=1)
        names = [crawler.name for crawler in world.crawlers]
        for scheme, chosen in choices.items():
            say(f"crawling {config.sites} sites of {pages} pages: {scheme}")
            owners = {site.host: names[i] for site, i in zip(world.sites, chosen.tolist(), strict=True)}
            offset = place.hits.stat().st_size
            crawl = measure(place, scheme, owners)
            measured = _throughput_mbps(read_hits(place.hits, offset))
            simulated, half_rtt_ms = small_throughput(drawn, chosen, config)
            found.append(
                SchemeCrawl(
                    scheme=scheme,
                    measured_mbps=measured,
                    simulated_mbps=simulated,
                    difference=measured / simulated - 1,
                    half_rtt_ms=half_rtt_ms,
                    published=ORDER.get(scheme, ""),
                    processor=crawl.processor,
                )
            )
    return found


def _throughput_mbps(hits: Sequence[Hit]) -> float:
    """Add up the rates of all sites, each over the time from its first page to its last."""
    pages: dict[str, list[Hit]] = {}
    for hit in hits:
        if WebPages.number_of(hit.path) is not None:
            pages.setdefault(hit.host, []).append(hit)
    return sum(
        sum(hit.size for hit in of_site)
        * 8
        / MEGABIT
        / (max(hit.ended_s for hit in of_site) - min(hit.began_s for hit in of_site))
        for of_site in pages.values()
    )
