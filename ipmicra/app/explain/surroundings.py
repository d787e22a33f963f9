"""What surrounds a site: the organisation that holds its subnet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

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


def find_holdings(store: StorePort, hierarchy: Hierarchy, address: Address) -> Holdings | None:
    """Find the organisation of the narrowest subnet around an address; None if nobody is known to hold it."""
    organisation = hierarchy.lookup(address).organisation
    if organisation is None:
        return None
    rows = hierarchy.subnets_of(organisation)
    held = (store.delegations.get(*hierarchy.bounds(int(row))) for row in rows[:MOST_SUBNETS])
    crawlers = Counter(one.delegation.crawler for one in held if one is not None)
    return Holdings(organisation=organisation, subnets=len(rows), crawlers=dict(crawlers.most_common()))
