"""The figures an operator wants first."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import Flag, Milliseconds, ReportData
from ipmicra.assign.balance.config import PageCost
from ipmicra.assign.balance.goodput import download_s, rate_to_the_end, rate_while_busy
from ipmicra.model.types import NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRates:
    """Pages per hour of the whole fleet, by the equation of download time."""

    busy: float
    """While every connection of every crawler has work."""
    to_the_end: float | None
    """Over the time until the slowest crawler is done; None if it is not known who has what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The figures on top of the report and of `--json`; None where unknown."""

    sites: int
    crawlers: int
    crawlers_used: int
    subnets: int | None
    organisations: int | None
    assigned: int
    anycast: int
    unprobeable: int
    compared: int
    """Sites on which round trips are compared."""
    optimal: float | None
    """Share of sites with their nearest crawler, of those where it is known."""
    within_2ms: float | None
    probes: int | None
    probes_per_site: float | None
    mean_rtt_ms: float | None
    median_rtt_ms: float | None
    oracle_rtt_ms: float | None
    hash_rtt_ms: float | None
    random_rtt_ms: float | None
    saved_rtt_ms: float | None
    """Mean round trip by a site hash less ours."""
    pages: int | None
    pages_per_hour: float | None
    hash_pages_per_hour: float | None
    pages_per_hour_to_the_end: float | None
    hash_pages_per_hour_to_the_end: float | None
    saved_pages_per_hour: float | None
    """Pages per hour until the last crawler is done, less those by a site hash; negative if the hash wins."""
    are_baselines_expected: bool | None
    """Whether hash and random are what a model expects; None if nothing is known of them."""
    load_variation: float | None
    """Standard deviation ÷ mean of the crawlers' sites."""

    def as_record(self) -> dict[str, Any]:
        """Return the figures by name, numbers short enough to read."""
        return {
            key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()
        }


def summarise(columns: Columns, config: ReportConfig) -> Summary:
    """Work out the figures on top."""
    data = columns.data
    subnets = {site.subnet.label for site in data.sites if site.subnet}
    organisations = {site.organisation for site in data.sites if site.organisation}
    return Summary(
        sites=len(columns),
        crawlers=columns.crawlers,
        crawlers_used=int((loads(columns) > 0).sum()),
        subnets=len(subnets) or None,
        organisations=len(organisations) or None,
        assigned=int((columns.crawler != NOBODY).sum()),
        anycast=flagged(data, Flag.ANYCAST),
        unprobeable=flagged(data, Flag.UNPROBEABLE),
        **_nearness(columns, config),
        **_probes(columns),
        **_round_trips(columns),
        **_pages(columns, config.cost),
        load_variation=_variation(loads(columns)),
    )


def flagged(data: ReportData, flag: Flag) -> int:
    """Count the sites with a flag."""
    return sum(site.flag is flag for site in data.sites)


def loads(columns: Columns) -> NDArray[np.int64]:
    """Count each crawler's sites."""
    return np.bincount(columns.crawler[columns.crawler != NOBODY], minlength=columns.crawlers)


def page_loads(columns: Columns) -> NDArray[np.int64] | None:
    """Count each crawler's pages, if any site's are known."""
    is_known = (columns.crawler != NOBODY) & (columns.pages > 0)
    if not is_known.any():
        return None
    pages = np.bincount(columns.crawler[is_known], columns.pages[is_known], columns.crawlers)
    return pages.astype(np.int64)


def excess_ms(columns: Columns) -> Milliseconds | None:
    """Return how much farther each site's crawler is than the nearest; not-a-number where that is unknown."""
    return None if columns.oracle_ms is None else columns.ours_ms - columns.oracle_ms


def _nearness(columns: Columns, config: ReportConfig) -> dict[str, Any]:
    """Sites count whose nearest crawler is known; one whose own crawler gets no answer is not near."""
    if columns.oracle_ms is None or not np.isfinite(columns.oracle_ms).any():
        return {"optimal": None, "within_2ms": None, "compared": int(columns.compared.sum())}
    lost = excess_ms(columns)
    assert lost is not None  # noqa: S101 - the oracle is known
    # Not limited to `columns.compared`: a site whose crawler gets no answer is a wrong decision, not a gap.
    lost = np.where(np.isnan(lost), np.inf, lost)[np.isfinite(columns.oracle_ms)]
    return {
        "compared": int(columns.compared.sum()),
        "optimal": float((lost <= 0).mean()),
        "within_2ms": float((lost <= config.within_ms).mean()),
    }


def _probes(columns: Columns) -> dict[str, Any]:
    known = columns.probes[columns.probes != NOBODY]
    if not len(known):
        return {"probes": None, "probes_per_site": None}
    return {"probes": int(known.sum()), "probes_per_site": float(known.mean())}


def _round_trips(columns: Columns) -> dict[str, Any]:
    def mean(role: str) -> float | None:
        curve = columns.curve(role)
        return curve.mean_ms if curve else None

    ours = columns.ours_ms[columns.compared]
    by_hash = mean("hash")
    return {
        "saved_rtt_ms": None if by_hash is None or not len(ours) else by_hash - float(ours.mean()),
        "are_baselines_expected": None if by_hash is None else columns.data.baselines.is_expected,
        "mean_rtt_ms": float(ours.mean()) if len(ours) else None,
        "median_rtt_ms": float(np.median(ours)) if len(ours) else None,
        "oracle_rtt_ms": mean("oracle"),
        "hash_rtt_ms": by_hash,
        "random_rtt_ms": mean("random"),
    }


def _pages(columns: Columns, cost: PageCost) -> dict[str, Any]:
    ours = page_rates(columns, columns.ours_ms, columns.crawler, cost)
    by_hash = page_rates(columns, columns.hash_ms, columns.hash_crawler, cost)
    known = columns.pages[columns.pages != NOBODY]
    ends = [None if one is None else one.to_the_end for one in (ours, by_hash)]
    return {
        "saved_pages_per_hour": None if ends[0] is None or ends[1] is None else ends[0] - ends[1],
        "pages": int(known.sum()) if len(known) else None,
        "pages_per_hour": ours.busy if ours else None,
        "hash_pages_per_hour": by_hash.busy if by_hash else None,
        "pages_per_hour_to_the_end": ours.to_the_end if ours else None,
        "hash_pages_per_hour_to_the_end": by_hash.to_the_end if by_hash else None,
    }


def page_rates(
    columns: Columns, rtt_ms: Milliseconds | None, crawler: NDArray[np.int64] | None, cost: PageCost
) -> PageRates | None:
    """Return the fleet's pages per hour for one way of assigning, over sites that can be compared."""
    # Where no count is known at all, sites count the same, as they do for `ipmicra assign`.
    all_pages = columns.pages if (columns.pages > 0).any() else np.ones(len(columns), np.int64)
    counts = columns.compared & (all_pages > 0)
    if rtt_ms is None or not counts.any():
        return None
    pages = all_pages[counts]
    taken_s = download_s(pages, rtt_ms[counts], cost)
    lines = connections(columns, cost)
    busy = rate_while_busy(pages, taken_s, lines)
    end = None if crawler is None else rate_to_the_end(pages, taken_s, crawler[counts], lines)
    return PageRates(busy=busy, to_the_end=end)


def connections(columns: Columns, cost: PageCost) -> NDArray[np.float64]:
    """Return each crawler's downloads at a time: as its capacity says, else the usual number."""
    return np.array([one.capacity.connections or cost.connections for one in columns.data.crawlers], float)


def _variation(counts: NDArray[np.int64]) -> float | None:
    return float(counts.std() / counts.mean()) if len(counts) and counts.sum() else None
