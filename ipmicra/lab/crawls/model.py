"""What the download equation says about a crawl of a loopback web; nothing in it is fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import PageCost
from ipmicra.assign.balance.goodput import download_s
from ipmicra.edge.loopback.web_plan import WebPlan
from ipmicra.model.types import Floats, Rows

ROBOTS_BYTES = 100.0
"""About the size of a robots.txt of the loopback web; at 1 Mb/s it takes less than a millisecond."""


def cost_of(plan: WebPlan, connections: int) -> PageCost:
    """Return the parameters of the equation that hold for a web: what its servers implement."""
    return PageCost(
        pipeline_pages=1.0,
        bandwidth_bps=plan.line_bps,
        page_bytes=plan.page_bytes,
        polite_wait_s=plan.wait_ms / 1e3,
        connections=connections,
    )


def modelled_s(
    pages: NDArray[np.int64], rtt_ms: Floats, crawler: Rows, crawlers: int, cost: PageCost
) -> float:
    """Return how long the slowest crawler takes; each site costs a visit for its robots.txt as well."""
    robots = download_s(np.ones(len(pages)), rtt_ms, replace(cost, page_bytes=ROBOTS_BYTES))
    taken_s = download_s(pages, rtt_ms, cost) + robots
    return float(np.bincount(crawler, taken_s, crawlers).max() / cost.connections)
