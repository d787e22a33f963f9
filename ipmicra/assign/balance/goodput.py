"""Pages per hour of a fleet, by the equation of download time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.balance.config import PageCost
from ipmicra.model.types import Floats, Rows

_BITS, _MS, _HOUR_S = 8, 1000.0, 3600.0


def download_s(pages: NDArray[np.number], rtt_ms: Floats, cost: PageCost) -> Floats:
    """Return how long each site keeps one connection busy.

    A site of M pages takes M/L · (2·RTT + L·size/bandwidth + wait): 100 pages at 50 ms take 10 · 1.0 s.
    """
    transfer_s = cost.pipeline_pages * cost.page_bytes * _BITS / cost.bandwidth_bps
    visit_s = 2 * rtt_ms / _MS + transfer_s + cost.polite_wait_s
    return pages.astype(np.float64) / cost.pipeline_pages * visit_s


def rate_while_busy(pages: NDArray[np.number], taken_s: Floats, connections: Floats) -> float:
    """Return pages per hour while every connection of every crawler has work."""
    return float(pages.sum() / taken_s.sum() * connections.sum() * _HOUR_S)


def rate_to_the_end(pages: NDArray[np.number], taken_s: Floats, crawler: Rows, connections: Floats) -> float:
    """Return pages per hour over the time until the slowest crawler is done: uneven loads count."""
    slowest_s = (np.bincount(crawler, taken_s, len(connections)) / connections).max()
    return float(pages.sum() / slowest_s * _HOUR_S)
