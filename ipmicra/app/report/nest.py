"""Trees of subnets above the sites: from a hierarchy, or by prefix length where there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ipmicra.app.report.data import ReportSite, SubnetNode
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.model.address import type_of_family

BYTES = {4: 4, 6: 16}
STEPS = {4: (8, 16, 24), 6: (16, 32, 48)}
"""Prefix lengths used as levels where there is no hierarchy."""

Lineage = list[tuple[str, str | None]]
"""Subnets from wide to narrow: label, and who holds it."""


def nested_by_prefix(sites: Sequence[ReportSite]) -> tuple[SubnetNode, ...]:
    """Nest sites by the first bytes of their addresses, and in their delegated subnet if they have one."""
    lineages: list[tuple[Lineage, ReportSite]] = []
    known: dict[tuple[int, int, int], str] = {}
    for site in sites:
        if site.address is None or site.crawler is None:
            continue
        first = site.subnet.first if site.subnet else site.address
        size = int(site.subnet.last) - int(first) if site.subnet else 0
        whole, family = first.max_prefixlen, first.version
        labels = [
            _prefix(known, family, length, int(first) >> whole - length)
            for length in STEPS[family]
            if length < whole - size.bit_length()
        ]
        lineages.append(([(label, None) for label in labels], site))
    return _joined(lineages)


def _prefix(known: dict[tuple[int, int, int], str], family: int, length: int, bits: int) -> str:
    """Write the prefix of some first bits; each is written once."""
    key = (family, length, bits)
    if key not in known:
        address = type_of_family[family](bits << 8 * BYTES[family] - length)
        known[key] = f"{address}/{length}"
    return known[key]


def nested_by_hierarchy(
    sites: Sequence[ReportSite], rows: Iterable[int], hierarchy: Hierarchy
) -> tuple[SubnetNode, ...]:
    """Nest sites as the hierarchy does; a row is that of the narrowest subnet round a site's address."""
    above: dict[int, Lineage] = {}
    lineages = []
    for site, row in zip(sites, rows, strict=True):
        if site.crawler is None or row < 0:
            continue
        if row not in above:
            above[row] = [
                (subnet.label, subnet.organisation.label if subnet.organisation else subnet.netname)
                for subnet in hierarchy.lineage(hierarchy.subnet(row))[1:]
            ]
        lineages.append((above[row], site))
    return _joined(lineages)


def _joined(lineages: Iterable[tuple[Lineage, ReportSite]]) -> tuple[SubnetNode, ...]:
    """Join lineages into a tree, parents before children."""
    numbers: dict[tuple[int | None, str], int] = {}
    labels: list[tuple[str, str | None, int | None]] = []
    crawlers: list[Counter[int]] = []
    delegated: set[int] = set()
    for lineage, site in lineages:
        above: int | None = None
        own = site.subnet.label if site.subnet else str(site.address)
        steps = lineage if any(label == own for label, _ in lineage) else [*lineage, (own, site.organisation)]
        at = 0
        for label, name in steps:
            number = numbers.get((above, label))
            if number is None:
                number = numbers[above, label] = len(labels)
                labels.append((label, name, above))
                crawlers.append(Counter())
            above = number
            at = number
            if site.subnet and label == own:
                delegated.add(number)
        if site.crawler is not None:
            crawlers[at][site.crawler] += 1
    return tuple(
        SubnetNode(
            label=label,
            name=name,
            parent=above,
            is_delegated=i in delegated,
            crawlers=tuple(sorted(crawlers[i].items())),
        )
        for i, (label, name, above) in enumerate(labels)
    )
