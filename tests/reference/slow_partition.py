"""Slow twins of partitioning: plain loops, to be read beside the equations."""

from __future__ import annotations

from ipmicra.partition.config import CostConfig
from ipmicra.partition.hashing import hash_one


def slow_next_on_circle(host: str, crawlers: list[str], replicas: int) -> str:
    """The crawler with the smallest point at or after the host's, around the circle."""
    points = [(hash_one(f"{name}#{number}"), name) for name in crawlers for number in range(replicas)]
    here = hash_one(host)
    after = [point for point in points if point[0] >= here]
    return min(after or points)[1]


def slow_download_s(
    pages: list[float], rtt_s: list[float], crawler: list[int], parts: int, config: CostConfig
) -> list[float]:
    """Equations 1 and 2, site by site."""
    total = [0.0] * parts
    for site, part in enumerate(crawler):
        page_bits = config.page_bytes * 8
        once = (
            2 * rtt_s[site] + config.pipeline_pages * page_bits / config.bandwidth_bps + config.polite_wait_s
        )
        total[part] += pages[site] / config.pipeline_pages * once
    return [each / config.connections for each in total]


def slow_exchange_s(
    links: list[tuple[int, int, float]], crawler: list[int], rtt_s: list[list[float]], config: CostConfig
) -> list[float]:
    """Equation 3, pair by pair; a crawler without a site takes no part."""
    parts = len(rtt_s)
    total = []
    for own in range(parts):
        seconds = 0.0
        for other in range(parts):
            if other != own and {own, other} <= set(crawler):
                sent = sum(n for a, b, n in links if crawler[a] == own and crawler[b] == other)
                seconds += 2 * rtt_s[own][other] + config.url_bytes * 8 * sent / config.bandwidth_bps
        total.append(seconds / config.connections)
    return total


def slow_cut(edges: list[tuple[int, int, float]], part: list[int]) -> float:
    """Weight of edges between different parts."""
    return sum(weight for a, b, weight in edges if part[a] != part[b])
