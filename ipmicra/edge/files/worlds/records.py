"""What is read of a world: crawlers, sites and round trips.

Sites are records of texts, each with where it stands, so that code that needs more columns finds
them; crawlers and round trips are read once for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ipmicra.edge.files.crawlers import CrawlerRow
from ipmicra.edge.files.tables import Record
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler

Placed = tuple[str, Record]
"""Where a record stands, in words, and the record."""
Resolve = Callable[[Sequence[str]], Mapping[str, Address]]
"""Returns the addresses of host names, of those that have one."""

CRAWLERS, SITES, ROUND_TRIPS = "crawlers.csv", "sites.csv", "rtt.csv"
NEEDED = {
    CRAWLERS: ("name", "address"),
    SITES: ("host", "address"),
    ROUND_TRIPS: ("crawler", "address", "rtt_ms"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldFiles:
    """What a user names: a world, and what else is known of those in a file of measurements."""

    world: Path
    """A folder, a file of measurements, or `-`."""
    crawlers: Mapping[str, Crawler] = field(default_factory=dict)
    """What is known of crawlers, by name; for measurements only, as are the others."""
    sites: Path | None = None
    """`host,address[,latitude,longitude,country,pages]`."""
    resolve: Resolve | None = None
    """Asks for addresses of hosts that neither file has."""


@dataclass(slots=True, kw_only=True)
class WorldRecords:
    """A world as its files have it."""

    name: str
    crawlers: list[CrawlerRow]
    sites: list[Placed]
    rtt_ms: dict[tuple[str, Address], float]
    """By name and address; NaN for a probe that was lost."""
    is_partial: bool = False
    """Whether pairs that are not named were never measured, rather than lost."""
    today: dict[Address, str] = field(default_factory=dict)
    """The crawler that a site has today, by name."""
    findings: list[str] = field(default_factory=list)
    """Rows left out, a line each."""
    notes: list[str] = field(default_factory=list)
    """How a file of measurements was understood, and what was left out of it."""

    def matrix(
        self, names: Sequence[str], addresses: Sequence[Address | None]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """Return round trips, (crawler, site), and which pairs were measured: None if all."""
        rtt_ms = np.full((len(names), len(addresses)), nan)
        measured = np.zeros(rtt_ms.shape, np.bool_)
        rows = {name: i for i, name in enumerate(names)}
        columns: dict[Address | None, list[int]] = {}
        for i, address in enumerate(addresses):
            columns.setdefault(address, []).append(i)
        for (name, address), value in self.rtt_ms.items():
            row = rows.get(name)
            for column in columns.get(address, ()) if row is not None else ():
                rtt_ms[row, column], measured[row, column] = value, True
        return rtt_ms, measured if self.is_partial and not measured.all() else None
