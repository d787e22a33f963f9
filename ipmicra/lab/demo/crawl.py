"""The end of the demonstration: the sites are really downloaded, by a Scrapy process per crawler.

The same web is crawled as ipmicra assigned its sites, by nearness alone, and by a hash of host names. Its
pages are a few per site, in proportion to the counts that the assignment used.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.lab.crawls.measured import CrawlPlace, MeasuredCrawl, measure
from ipmicra.lab.crawls.nodes import stop_forkserver
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.lab.demo.invent import DemoWorld


def plan_web(played: DemoWorld, config: DemoConfig) -> WebPlan:
    """Plan the pages that are downloaded: at least one per site."""
    total = config.crawled_pages_per_site * len(played.pages)
    pages = np.maximum(1, np.round(played.pages * (total / played.pages.sum()))).astype(int)
    hosts = [site.host for site in played.world.sites]
    return WebPlan(pages=dict(zip(hosts, pages.tolist(), strict=True)), seed=config.seed)


def crawl_ways(place: CrawlPlace, ways: Mapping[str, Mapping[str, str]]) -> list[MeasuredCrawl]:
    """Crawl the same pages once for each way of assigning the sites."""
    try:
        return [measure(place, policy, owners) for policy, owners in ways.items()]
    finally:
        stop_forkserver()
