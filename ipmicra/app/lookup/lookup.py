"""Looking into hierarchies: targets, organisations, differences between editions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipmicra.app.describe import describe_organisation, describe_subnet
from ipmicra.edge.files.targets import Target
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.model.organisation import Organisation
from ipmicra.model.subnet import Subnet


def open_hierarchy(path: Path) -> Hierarchy:
    """Open a hierarchy file."""
    return Hierarchy.open(path)


def lineage_of(hierarchy: Hierarchy, target: Target) -> list[Subnet]:
    """Give the subnets that hold a whole target, widest first; the range as registered decides."""
    lineage = hierarchy.lineage(target.first)
    if target.first == target.last:
        return lineage
    return [
        subnet for subnet in lineage if int(target.last) <= int(hierarchy.registered_range(subnet.row)[1])
    ]


def describe_target(hierarchy: Hierarchy, target: Target) -> dict[str, Any]:
    """Describe a target with its lineage."""
    return {
        "target": target.text,
        "address": target.address,
        "lineage": [describe_subnet(subnet) for subnet in lineage_of(hierarchy, target)],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """An organisation with its subnets."""

    organisation: Organisation
    subnet_count: int
    subnets: list[Subnet]
    """The first of them, in the order of addresses."""


def find_holdings(hierarchy: Hierarchy, query: str, limit: int, subnet_limit: int) -> Iterator[Holding]:
    """Find organisations by part of a name or handle, with the first of their subnets."""
    for organisation in hierarchy.search(query, limit):
        rows = hierarchy.subnets_of(organisation)
        yield Holding(
            organisation=organisation,
            subnet_count=len(rows),
            subnets=hierarchy.subnets(rows[:subnet_limit]),
        )


def describe_holding(holding: Holding) -> dict[str, Any]:
    """Describe an organisation with its subnets."""
    return {
        **describe_organisation(holding.organisation),
        "subnet_count": holding.subnet_count,
        "subnets": [describe_subnet(subnet) for subnet in holding.subnets],
    }
