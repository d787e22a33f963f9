"""What surrounds a site: the organisation that holds its subnet, and its place in coordinate space."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ipmicra.app.assign.assign import kept_overlay
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.address import Address
from ipmicra.model.organisation import Organisation

MOST_SUBNETS = 2_000
"""Subnets of an organisation that are looked at: some have hundreds of thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """The subnets of an organisation, and who has them."""

    organisation: Organisation
    subnets: int
    """All of them in the hierarchy."""
    crawlers: dict[str, int]
    """Subnets that are delegated, by crawler, among the first `MOST_SUBNETS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InSpace:
    """Where a site stands in coordinate space, and in whose zone that is."""

    point_ms: tuple[float, ...]
    rests_on: str
    """In words; empty if an earlier version placed it."""
    owner: str | None
    """The crawler whose zone it is; others may take the site for load."""
    scheme: str | None
    """How zones were split; None for those of an earlier version."""


def find_holdings(store: StorePort, hierarchy: Hierarchy, address: Address) -> Holdings | None:
    """Find the organisation of the narrowest subnet around an address; None if nobody is known to hold it."""
    organisation = hierarchy.lookup(address).organisation
    if organisation is None:
        return None
    rows = hierarchy.subnets_of(organisation)
    held = (store.delegations.get(*hierarchy.bounds(int(row))) for row in rows[:MOST_SUBNETS])
    crawlers = Counter(one.delegation.crawler for one in held if one is not None)
    return Holdings(organisation=organisation, subnets=len(rows), crawlers=dict(crawlers.most_common()))


def find_in_space(store: StorePort, address: Address) -> InSpace | None:
    """Find where the last `ipmicra assign` by zones put an address; None if it did not."""
    kept, _damaged = kept_overlay(store)
    point = None if kept is None else kept.sites.get(str(address))
    if kept is None or point is None:
        return None
    names = {number: name for name, number in kept.crawlers.items()}
    return InSpace(
        point_ms=tuple(map(float, point)),
        rests_on=kept.labels.get(str(address), ""),
        owner=names.get(int(kept.overlay.owner(point))),
        scheme=kept.config.scheme if kept.config else None,
    )
