"""What a hierarchy adds: subnets, holders, countries, and the tree above the sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ipmicra.app.report.data import HierarchyFigures, ReportData, ReportSite, ReportSubnet
from ipmicra.app.report.nest import nested_by_hierarchy
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.model.subnet import Subnet


def with_hierarchy(data: ReportData, hierarchy: Hierarchy) -> ReportData:
    """Fill in what the sites lack, and nest them."""
    rows = rows_of(data.sites, hierarchy)
    subnets: dict[int, Subnet] = {}
    sites = []
    for site, row in zip(data.sites, rows, strict=True):
        if row >= 0 and row not in subnets:
            subnets[row] = hierarchy.subnet(row)
        sites.append(_filled(site, subnets[row]) if row >= 0 else site)
    meta = hierarchy.meta
    figures = HierarchyFigures(
        edition=hierarchy.edition.label,
        subnets=int(meta.get("subnets") or len(hierarchy)),
        organisations=int(meta.get("organisations") or 0),
        max_depth=meta.get("max_depth"),
    )
    return replace(
        data, sites=tuple(sites), hierarchy=figures, tree=nested_by_hierarchy(sites, rows, hierarchy)
    )


def rows_of(sites: Sequence[ReportSite], hierarchy: Hierarchy) -> list[int]:
    """Return the row of the narrowest subnet round each site's address, -1 without an address."""
    has_address = [site.address is not None for site in sites]
    rows = np.full(len(sites), -1, np.int64)
    addresses = [site.address for site in sites if site.address is not None]
    if addresses:
        rows[has_address] = hierarchy.lookup_many(addresses)
    return [int(row) for row in rows]


def _filled(site: ReportSite, subnet: Subnet) -> ReportSite:
    """Add what the registration says; what the site says already stays."""
    if subnet.depth == 0:
        return site
    own = ReportSubnet(first=subnet.first, last=subnet.last, label=subnet.label)
    holder = subnet.organisation.label if subnet.organisation else None
    return replace(
        site,
        subnet=site.subnet or own,
        organisation=site.organisation or holder,
        country=site.country or subnet.country,
    )
