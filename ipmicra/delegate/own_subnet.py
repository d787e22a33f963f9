"""The subnet that a crawler stands in: it is delegated to it when it joins, without a probe.

Of a subnet wider than a slice it gets the slice around it, for the rest may be elsewhere, unless the policy
delegates whole subnets.
"""

from __future__ import annotations

from ipmicra.delegate.attempt import Account, Considered, Verdict
from ipmicra.delegate.subnets import SubnetTree, bounds_of, is_narrow, key_of, slice_of
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import OWN, Delegation, Evidence, Origin

STANDS_HERE = "it stands in this subnet"
TAKEN = "a crawler joined that stands in this subnet"
"""Why a delegation ended that a crawler took over with its own subnet."""


def own_key(tree: SubnetTree, address: Address) -> int:
    """Return the key of a crawler's own subnet, or of its slice of a wide one."""
    key = key_of(tree, address)
    return slice_of(address) if key >= 0 and not is_narrow(tree, key) else key


def own_delegation(
    tree: SubnetTree, crawler: Crawler, key: int, now_s: float, lifetime_s: float
) -> tuple[Delegation, Account]:
    """Return the delegation of what a crawler stands in, by its key, and its account."""
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
    chosen = Considered(crawler=crawler.name, verdict=Verdict.CHOSEN, reason=STANDS_HERE)
    return delegation, Account((chosen,))
