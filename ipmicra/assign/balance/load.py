"""How heavily crawlers are loaded: relative task load, relative page load, overloading threshold.

[1] Xu, Zhang, Zhang & Fang 2010, equations 3 to 5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.assign.balance.config import LbiConfig, PageConfig
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Capacity
from ipmicra.model.types import Floats


def units(capacity: Capacity) -> float:
    """Return the capacity of a crawler: the lesser of Mb/s and GB; 1 where the operator did not say.

    Nothing, negative numbers and NaN are a capacity of 0: such a crawler gets no work.
    """
    limits = [value for value in (capacity.bandwidth_mbps, capacity.memory_gb) if value is not None]
    least = min(limits, default=1.0)
    if capacity.max_pieces == 0 or capacity.connections == 0 or any(math.isnan(value) for value in limits):
        return 0.0
    return max(least, 0.0)


def units_of(capacities: Sequence[Capacity]) -> Floats:
    """Return the units of a fleet; one without a limit counts as much as the largest that has one."""
    found = np.array([units(capacity) for capacity in capacities], dtype=np.float64)
    is_bounded = np.isfinite(found)
    most = found[is_bounded].max(initial=0.0)
    return np.where(is_bounded, found, most or 1.0)


def threshold_of(capacity: Capacity, config: LbiConfig, share: float | None = None) -> float:
    """Return the relative task load above which a crawler is overloaded (equation 4).

    A contributor's own limit of pieces decides where there is one, and never falls below the connections.
    `share` is the crawler's capacity as `units_of` counts it in its fleet.
    """
    share = units(capacity) if share is None else share
    if capacity.max_pieces is None or not share:
        return config.threshold
    return max(capacity.max_pieces, capacity.connections or 0) / share


def thresholds_of(capacities: Sequence[Capacity], config: LbiConfig) -> Floats:
    """Return the thresholds of a fleet."""
    shares = zip(capacities, units_of(capacities).tolist(), strict=True)
    return np.array([threshold_of(capacity, config, share) for capacity, share in shares])


def relative(amounts: ArrayLike, capacity_units: ArrayLike) -> Floats:
    """Divide tasks or pages by capacity (equations 3 and 5); without capacity any load is infinite."""
    amount, share = np.asarray(amounts, np.float64), np.asarray(capacity_units, np.float64)
    return np.where(share > 0, amount / np.where(share > 0, share, 1.0), np.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCounts:
    """Numbers of pages that load is computed from."""

    pages: NDArray[np.int64]
    estimated: int
    """Sites of which nothing was known."""
    refused: int
    """Sites whose count is implausible: below 0, not a number, or too large."""


def believed_pages(counts: Sequence[float | None], config: PageConfig | None = None) -> PageCounts:
    """Take the page counts of the last crawl; estimate what is unknown by the median of what is known.

    0 pages count as one: some crawler must look at the site again. Implausible counts are replaced by the
    estimate, and counted.
    """
    config = config or PageConfig()
    given = np.array([np.nan if count is None else float(count) for count in counts], dtype=np.float64)
    is_unknown = np.array([count is None for count in counts], dtype=bool)
    is_implausible = ~is_unknown & ~((given >= 0) & (given <= config.most))
    is_known = ~is_unknown & ~is_implausible
    middle = float(np.median(given[is_known])) if is_known.any() else config.unknown
    pages = np.where(is_known, given, middle)
    return PageCounts(
        pages=np.maximum(config.least, np.round(pages)).astype(np.int64),
        estimated=int(is_unknown.sum()),
        refused=int(is_implausible.sum()),
    )


# --- what crawlers hold


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLoad:
    """What a crawler holds."""

    sites: int = 0
    """Sites, or pieces of sites."""
    sized: int = 0
    """Those of them with a known number of pages."""
    pages: float = 0.0
    """Pages of these together."""

    def total(self, usual: int) -> float:
        """Return its pages, if a site of unknown size counts for so many."""
        return self.pages + (self.sites - self.sized) * usual


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetLoads:
    """What all crawlers hold, in as many numbers as there are crawlers."""

    by_crawler: Mapping[str, HeldLoad] = field(default_factory=dict)
    usual: int = PageConfig().unknown
    """Pages that a site of unknown size counts for: the median of all that are known."""

    def held(self, crawlers: Sequence[str], without: Iterable[Assignment] = ()) -> tuple[Floats, Floats]:
        """Return the sites and the pages of crawlers, some assignments left out."""
        less = counted_loads(without)
        all_of = [self.by_crawler.get(name, HeldLoad()) for name in crawlers]
        less_of = [less.get(name, HeldLoad()) for name in crawlers]
        pairs = list(zip(all_of, less_of, strict=True))
        return (
            np.array([one.sites - gone.sites for one, gone in pairs], np.float64),
            np.array([one.total(self.usual) - gone.total(self.usual) for one, gone in pairs], np.float64),
        )


def sized_pages(pages: float | None, config: PageConfig | None = None) -> int | None:
    """Return the pages that a stored count stands for; None if it is unknown or implausible."""
    config = config or PageConfig()
    if pages is None or not 0 <= pages <= config.most:
        return None
    return max(config.least, round(pages))


def counted_loads(assignments: Iterable[Assignment]) -> dict[str, HeldLoad]:
    """Count what crawlers hold of some assignments."""
    found: dict[str, HeldLoad] = {}
    for one in assignments:
        if one.crawler is not None:
            held, pages = found.get(one.crawler, HeldLoad()), sized_pages(one.pages)
            found[one.crawler] = HeldLoad(
                sites=held.sites + 1,
                sized=held.sized + (pages is not None),
                pages=held.pages + (pages or 0),
            )
    return found


def usual_pages(sizes: Mapping[int, int], config: PageConfig | None = None) -> int:
    """Return what a site of unknown size counts for: the median of page counts, each with its frequency."""
    config = config or PageConfig()
    known = sorted(
        (pages, count) for pages, count in sizes.items() if 0 <= pages <= config.most and count > 0
    )
    total = sum(count for _, count in known)
    if not total:
        return max(config.least, round(config.unknown))
    reached, middles = 0, list[int]()
    for pages, count in known:
        middles += [pages for at in ((total - 1) // 2, total // 2) if reached <= at < reached + count]
        reached += count
    return max(config.least, round(sum(middles) / 2))


def fleet_loads(assignments: Sequence[Assignment]) -> FleetLoads:
    """Count what a fleet holds, from all its assignments."""
    sizes = Counter(one.pages for one in assignments if one.pages is not None)
    return FleetLoads(by_crawler=counted_loads(assignments), usual=usual_pages(sizes))
