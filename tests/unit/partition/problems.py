"""Small problems that several tests share."""

from __future__ import annotations

import numpy as np

from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.links.table import LinkTable
from ipmicra.partition.problem import Problem
from ipmicra.partition.sites import SiteTable


def links_of(edges: list[tuple[int, int, float]]) -> LinkTable:
    columns = list(zip(*edges, strict=True)) or [(), (), ()]
    return LinkTable(
        source=np.array(columns[0], np.int32),
        target=np.array(columns[1], np.int32),
        count=np.array(columns[2], np.float64),
    )


def clustered(clusters: int, size: int, parts: int, seed: int = 1) -> Problem:
    """Towns far from each other, equally large; links inside towns, a few across."""
    rng = np.random.default_rng(seed)
    count = clusters * size
    town = np.repeat(np.arange(clusters), size)
    order = rng.permutation(count)
    latitude = (-40 + 80 * town / clusters + rng.normal(0, 0.05, count))[order]
    longitude = (-150 + 300 * town / clusters + rng.normal(0, 0.05, count))[order]
    where = town[order]
    source = np.repeat(np.arange(count), 4)
    target = np.array([rng.choice(np.flatnonzero(where == where[one])) for one in source])
    target[::20] = rng.integers(0, count, len(target[::20]))
    differs = source != target
    links = LinkTable(
        source=source[differs].astype(np.int32),
        target=target[differs].astype(np.int32),
        count=np.ones(int(differs.sum())),
    )
    hosts = [f"h{number}.example" for number in range(count)]
    sites = SiteTable.of(hosts, places=(latitude.tolist(), longitude.tolist()))
    return Problem(sites=sites, crawlers=CrawlerTable.floating(parts), links=links, seed=seed)
