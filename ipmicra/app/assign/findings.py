"""What is reported with assignments: findings, takeovers, and why a site is where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.describe.assignment import describe_assignment
from ipmicra.assign.balance.load import FleetLoads, HeldLoad, PageCounts, relative, units_of
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler


def page_findings(counts: PageCounts) -> list[str]:
    """Report page counts that were estimated."""
    findings = []
    if counts.estimated and counts.estimated == len(counts.pages):
        findings.append("no number of pages is known, so all sites count the same: --pages FILE names them")
    elif counts.estimated:
        findings.append(
            f"{counts.estimated} without a known number of pages: estimated by the median of the others"
        )
    if counts.refused:
        findings.append(f"{counts.refused} with a number of pages beyond belief: estimated instead")
    return findings


def trip_findings(expected_ms: NDArray[np.float64]) -> list[str]:
    """Report sites for which some crawlers are not considered, and what helps."""
    lacking = int(np.isnan(expected_ms).any(axis=1).sum())
    if not lacking:
        return []
    where = f"{lacking} go to a crawler that probed them or their subnet, or where room is"
    return [f"{where}: with a hierarchy (`ipmicra build`) round trips of the others are estimated"]


def fleet_findings(
    crawlers: Sequence[Crawler], units: NDArray[np.float64], assignments: Sequence[Assignment]
) -> list[str]:
    """Report capacities that do not fit: none at all, or more tasks than a crawler takes."""
    findings = []
    idle = [one.name for one, share in zip(crawlers, units, strict=True) if share <= 0]
    if idle:
        findings.append(f"without capacity, so without sites: {', '.join(idle)}")
    held: dict[str, int] = {}
    for one in assignments:
        if one.crawler is not None:
            held[one.crawler] = held.get(one.crawler, 0) + 1
    over = [
        f"{one.name} ({held[one.name]} of {one.capacity.max_pieces})"
        for one in crawlers
        if one.capacity.max_pieces and held.get(one.name, 0) > one.capacity.max_pieces
    ]
    if over:
        findings.append(f"more than they want at a time, the rest waits in queues: {', '.join(over)}")
    return findings


def takeovers(
    crawlers: Sequence[Crawler],
    assignments: Sequence[Assignment],
    before: Sequence[Assignment],
    loads: FleetLoads,
) -> list[str]:
    """Report what becomes of sites whose crawler is gone: others start on them again from the first page.

    It makes no difference whether a crawler left or failed: no state of a download is carried over (Xu et al.
    2010). A site without an heir stays without one until it is asked for again.
    """
    there = {crawler.name for crawler in crawlers}
    assigned = {one.key for one in assignments if one.crawler is not None}
    findings = []
    for gone, held in sorted(loads.by_crawler.items()):
        if gone in there:
            continue
        moved = sum(one.crawler == gone and one.key in assigned for one in before)
        orphans = held.sites - moved
        findings.append(
            f"{gone} is gone: {moved} of its sites start again elsewhere"
            + (f", {orphans} were not asked for or have no heir" if orphans else "")
        )
    return findings


def explain_load(
    pieces: Sequence[Assignment], loads: FleetLoads, crawlers: Sequence[Crawler]
) -> list[dict[str, Any]]:
    """Explain why each piece of a host is where it is: reason, and its crawler's load beside the mean."""
    units = units_of([one.capacity for one in crawlers])
    names = [one.name for one in crawlers]
    held = {name: loads.by_crawler.get(name, HeldLoad()) for name in names}
    totals = [one.total(loads.usual) for one in held.values()]
    relative_loads = dict(zip(names, relative(totals, units).tolist(), strict=True))
    finite = [load for load in relative_loads.values() if np.isfinite(load)]
    mean = float(np.mean(finite)) if finite else None
    return [
        {
            **describe_assignment(one),
            "crawler_tasks": held[one.crawler].sites if one.crawler in held else None,
            "relative_page_load": relative_loads.get(one.crawler or ""),
            "mean_page_load": mean,
        }
        for one in pieces
    ]
