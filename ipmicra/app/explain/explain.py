"""Why a site has the crawler that it has: from the hierarchy and the store alone.

Theory of operation
-------------------
Nothing is decided or probed here: an `Explanation` gathers what the store keeps, and `render.py` tells it.
The question that needs care is which delegation answers for a site. Its last answer names one; if that has
ended since, the narrowest that would answer now is taken: of the address, of the subnet, of the slice. A site
that crawlers see at different addresses has an answer of its own, which no subnet shares.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ipmicra.app.assign.findings import explain_load
from ipmicra.app.delegate.missing_registrations import grafted
from ipmicra.app.delegate.new_edition import EDITION
from ipmicra.app.explain.in_space import InSpace, find_in_space
from ipmicra.app.explain.surroundings import Holdings, find_holdings
from ipmicra.app.explain.views import samples_seen
from ipmicra.app.fleet.fleet import PRESENT
from ipmicra.app.rules import SiteRules
from ipmicra.assign.rules.rules import Rules
from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.config import DelegatorConfig
from ipmicra.delegate.ledger import compared_s, evidence_for, next_check_s
from ipmicra.delegate.policies.registry import WITHOUT_PROBES
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of, single, slice_of
from ipmicra.edge.dns.bulk import find_sites
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Bounds, DelegationRecord, EndedDelegation, StorePort
from ipmicra.errors import InputError
from ipmicra.model.delegation import Decision, Evidence, Origin
from ipmicra.model.name import View
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from ipmicra.model.subnet import Subnet


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One subnet of the lineage, and who holds it."""

    subnet: Subnet
    holder: DelegationRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """All that is known of a site's delegation."""

    site: Site
    lineage: tuple[Level, ...]
    """Widest first, without the root."""
    decided: DelegationRecord | None
    """The delegation that the site's answer rests on; None if there is none yet."""
    result: Decision | None
    """The site's last answer."""
    history: tuple[EndedDelegation, ...]
    samples: tuple[Sample, ...]
    """The last of each crawler, of the site's address."""
    crawled: tuple[Sample, ...]
    """What nodes observed while they downloaded, oldest first; it decides nothing."""
    load: tuple[dict[str, Any], ...]
    """Why each piece of the site is assigned where it is; empty before `ipmicra assign`."""
    views: tuple[View, ...]
    """What crawlers see of the host, by crawler; empty if its name was resolved here alone."""
    holdings: Holdings | None
    """Of the organisation that holds the subnet; None if it is unknown."""
    in_space: InSpace | None
    """Where it stands by network coordinates; None before `ipmicra assign` by zones."""
    is_scattered: bool
    """Whether they see different things, so that the answer holds for the site alone."""
    ruled: tuple[dict[str, Any], ...]
    """What rules leave of the fleet, for each vantage; empty if none matches."""
    is_current: bool
    """Whether the hierarchy is the one that was delegated."""
    now_s: float

    @property
    def evidence(self) -> tuple[Evidence, Origin | None] | None:
        """What the answer is for the site itself, and what was measured instead of it."""
        return evidence_for(self.decided.delegation, self.site.address) if self.decided else None

    @property
    def next_check_s(self) -> float | None:
        """When its subnet is next measured again, by the usual share; None if never."""
        if self.decided is None or self.is_scattered or self.decided.delegation.policy in WITHOUT_PROBES:
            return None
        one = self.decided.delegation
        return next_check_s(one.first, one.last, compared_s(one), DelegatorConfig())

    def considered(self, verdict: Verdict) -> list[Considered]:
        """Return the crawlers of a verdict."""
        return [one for one in self.decided.account if one.verdict is verdict] if self.decided else []


def explain_site(
    store: StorePort,
    hierarchy: Hierarchy,
    text: str,
    dns: DnsConfig | None = None,
    rules: Rules | None = None,
) -> Explanation:
    """Gather what is known of a site; nothing is probed."""
    return explain_found(store, hierarchy, _find_site(store, text, dns or DnsConfig()), rules)


def explain_found(
    store: StorePort, hierarchy: Hierarchy, site: Site, rules: Rules | None = None
) -> Explanation:
    """Gather what is known of a site whose address is known."""
    now_s = time.time()
    tree = grafted(hierarchy, store, now_s)
    result = store.results.latest(site.host)
    scattered = _scattered(store, site, result)
    decided = scattered or _decided(store, tree, site, result)
    views = tuple(store.views.of([site.host]).get(site.host, {}).values())
    bounds = _bounds(decided) if decided else bounds_of(tree, key_of(tree, site.address))
    return Explanation(
        site=site,
        lineage=tuple(
            Level(subnet=subnet, holder=store.delegations.get(subnet.first, subnet.last))
            for subnet in hierarchy.lineage(site.address)[1:]
        ),
        decided=decided,
        result=result,
        history=tuple(store.delegations.history(*bounds)),
        samples=tuple(
            samples_seen(store, views) if scattered else store.samples.latest(site.address).values()
        ),
        crawled=tuple(store.samples.crawled(site.address)),
        load=_load(store, site.host),
        views=views,
        holdings=find_holdings(store, hierarchy, site.address),
        in_space=find_in_space(store, site.address),
        is_scattered=scattered is not None,
        ruled=_ruled(store, hierarchy, site, rules),
        is_current=store.meta.get(EDITION) in {None, hierarchy.content_hash},
        now_s=now_s,
    )


def _ruled(
    store: StorePort, hierarchy: Hierarchy, site: Site, rules: Rules | None
) -> tuple[dict[str, Any], ...]:
    if rules is None:
        return ()
    crawlers = [member.crawler for member in store.crawlers.all(PRESENT)]
    return tuple(SiteRules(rules, hierarchy).describe(site, crawlers))


def _load(store: StorePort, host: str) -> tuple[dict[str, Any], ...]:
    """Explain why load put the site where it is; the fleet's loads are summed up only if it was assigned."""
    pieces = store.assignments.of(host)
    if not pieces:
        return ()
    crawlers = [member.crawler for member in store.crawlers.all(PRESENT)]
    return tuple(explain_load(pieces, store.assignments.loads(), crawlers))


def _find_site(store: StorePort, text: str, dns: DnsConfig) -> Site:
    sites, unresolved = find_sites([text], store, dns, is_pinning=False)
    for seed in unresolved:
        raise InputError(f"{seed.text}: {seed.reason}")
    return sites[0]


def _decided(
    store: StorePort, tree: SubnetTree, site: Site, result: Decision | None
) -> DelegationRecord | None:
    """Find the delegation behind a site: of its last answer, else the narrowest that would answer now."""
    if result is not None and result.address == site.address:
        found = store.delegations.get(result.first, result.last)
        if found is not None:
            return found
    for key in (single(site.address), key_of(tree, site.address), slice_of(site.address)):
        found = store.delegations.get(*bounds_of(tree, key))
        if found is not None:
            return found
    return None


def _scattered(store: StorePort, site: Site, result: Decision | None) -> DelegationRecord | None:
    """Find the answer for a site that crawlers see at different addresses, if its last answer was that."""
    found = store.site_answers.get(site.host)
    if found is None or result is None:
        return None
    one = found.delegation
    if (result.first, result.last, result.crawler) != (one.first, one.last, one.crawler):
        return None
    return DelegationRecord(delegation=one, address=one.first, account=found.account)


def _bounds(record: DelegationRecord) -> Bounds:
    return record.delegation.first, record.delegation.last
