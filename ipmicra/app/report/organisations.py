"""The organisations with most sites."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ipmicra.app.report.columns import Columns


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganisationRow:
    """An organisation, and what the sites of the report have of it."""

    name: str
    country: str | None
    sites: int
    subnets: int
    crawlers: tuple[tuple[int, int], ...]
    """Crawlers with their number of its sites, most first."""
    mean_rtt_ms: float | None
    probes: int | None


@dataclass(slots=True)
class _Count:
    sites: int = 0
    subnets: set[str] = field(default_factory=set)
    crawlers: Counter[int] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    rtt_ms: list[float] = field(default_factory=list)
    probes: int | None = None


def largest_organisations(columns: Columns, most: int) -> tuple[tuple[OrganisationRow, ...], int]:
    """Return the organisations with most sites, and how many there are in all."""
    counts = _counted(columns)
    names = sorted(counts, key=lambda name: (-counts[name].sites, name))
    return tuple(_row(name, counts[name]) for name in names[:most]), len(names)


def _counted(columns: Columns) -> dict[str, _Count]:
    counts: dict[str, _Count] = {}
    for site, rtt_ms in zip(columns.data.sites, columns.ours_ms, strict=True):
        if not site.organisation:
            continue
        count = counts.setdefault(site.organisation, _Count())
        count.sites += 1
        if site.subnet:
            count.subnets.add(site.subnet.label)
        if site.crawler is not None:
            count.crawlers[site.crawler] += 1
        if site.country:
            count.countries[site.country] += 1
        if np.isfinite(rtt_ms):
            count.rtt_ms.append(float(rtt_ms))
        if site.probes is not None:
            count.probes = (count.probes or 0) + site.probes
    return counts


def _row(name: str, count: _Count) -> OrganisationRow:
    return OrganisationRow(
        name=name,
        country=count.countries.most_common(1)[0][0] if count.countries else None,
        sites=count.sites,
        subnets=len(count.subnets),
        crawlers=tuple(count.crawlers.most_common()),
        mean_rtt_ms=float(np.mean(count.rtt_ms)) if count.rtt_ms else None,
        probes=count.probes,
    )
