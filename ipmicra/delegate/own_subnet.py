"""The subnet that a crawler stands in: it is delegated to it when it joins, without a probe."""

from __future__ import annotations

from ipmicra.delegate.attempt import Account, Considered, Verdict
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import OWN, Delegation, Evidence, Origin

STANDS_HERE = "it stands in this subnet"
TAKEN = "a crawler joined that stands in this subnet"
"""Why a delegation ended that a crawler took over with its own subnet."""


def own_delegation(
    tree: SubnetTree, crawler: Crawler, now_s: float, lifetime_s: float
) -> tuple[int, Delegation, Account]:
    """Return the delegation of the subnet that a crawler stands in, with its key and its account."""
    key = key_of(tree, crawler.address)
    first, last = bounds_of(tree, key)
    delegation = Delegation(
        first=first,
        last=last,
        crawler=crawler.name,
        evidence=Evidence.INHERITED,
        rtt_ms=None,
        probes=0,
        created_s=now_s,
        expires_s=now_s + lifetime_s,
        origin=Origin(crawler.address, crawler.address),
        policy=OWN,
    )
    return (
        key,
        delegation,
        Account((Considered(crawler=crawler.name, verdict=Verdict.CHOSEN, reason=STANDS_HERE),)),
    )
