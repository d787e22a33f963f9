"""How many probes a batch could take, before any is sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ipmicra.app.delegate.missing_registrations import grafted
from ipmicra.app.delegate.options import AGENTS, EXAMPLES, DelegateOptions
from ipmicra.app.delegate.restoring import choose_participants
from ipmicra.delegate.ledger import compared_s, next_check_s
from ipmicra.delegate.policies.registry import price_of, price_range, probe_cost
from ipmicra.delegate.ports import Scope
from ipmicra.delegate.subnets import SubnetTree, bounds_of, key_of, key_of_bounds, single
from ipmicra.edge.dns.bulk import resolve_seeds
from ipmicra.edge.files.pages import read_pages
from ipmicra.edge.files.seeds import UnresolvedSeed
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.delegation import Delegation
from ipmicra.model.site import Site

if TYPE_CHECKING:
    from ipmicra.app.delegate.plan_views import NamePlan

TELL_EVERY = 5_000
FEW = 20
"""Delegations to read for one question to the store that they spare."""
ENOUGH = 30
"""Delegations of our own from which the mean is taken rather than from a policy's aim."""


@dataclass(slots=True)
class Plan:
    """What a batch would do."""

    sites: int = 0
    subnets: int = 0
    """Different ones among the sites."""
    held: int = 0
    """Subnets that have a crawler and need no probe."""
    due: int = 0
    """Subnets that have a crawler and are measured again; with --again all that have one."""
    crawlers: int = 0
    """Those that can be asked."""
    most_probes: int = 0
    expected_probes: int = 0
    price_ms: float | None = None
    """For predict: expected saving that a probe must exceed, before the run adjusts it."""
    price_by_pages_ms: tuple[float, float] | None = None
    """The lowest and the highest of those prices, by the pages of sites; None if no pages are known."""
    aim_probes: float | None = None
    """For predict: probes per site above which that price rises; None for a fixed price."""
    missing: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)
    names: NamePlan | None = None
    """What names cost if agents resolve them; their hosts are among the sites, not among the subnets."""

    def record(self) -> dict[str, Any]:
        """Describe it as JSON does."""
        record = {
            "sites": self.sites,
            "subnets": self.subnets,
            "subnets_held": self.held,
            "subnets_due": self.due,
            "crawlers": self.crawlers,
            "most_probes": self.most_probes,
            "expected_probes": self.expected_probes,
            "price_ms": self.price_ms,
            "aim_probes_per_site": self.aim_probes,
            "missing": self.missing,
        }
        if self.price_by_pages_ms is not None:
            record["lowest_price_by_pages_ms"], record["highest_price_by_pages_ms"] = self.price_by_pages_ms
        if self.names is not None:
            record["hosts_to_resolve"] = self.names.unknown
            record["hosts_scattered"] = self.names.apart + self.names.answered
            record["name_questions"] = self.names.questions.total()
            record["name_requests"] = self.names.requests
        return record


def plan_batch(
    store: StorePort,
    hierarchy: Hierarchy,
    options: DelegateOptions,
    texts: Iterable[str],
    progress: Callable[[int], object] = lambda _: None,
) -> Plan:
    """Resolve and group seeds, and count; nothing is probed and nothing is delegated.

    `progress` is called now and then with the number of seeds read.
    """
    return asyncio.run(_plan(store, hierarchy, options, texts, progress))


async def _plan(
    store: StorePort,
    hierarchy: Hierarchy,
    options: DelegateOptions,
    texts: Iterable[str],
    progress: Callable[[int], object],
) -> Plan:
    participants = choose_participants(store.crawlers.all(), options)
    asked = [one for one in participants.crawlers if one.state is not CrawlerState.LEFT]
    asked = [one for one in asked if one.agent_url is not None or not options.needs_agents]
    plan = Plan(crawlers=len(asked))
    sites = resolve_seeds(texts, store, options.dns, is_pinning=False)
    if options.resolve_at == AGENTS:
        from ipmicra.app.delegate.plan_views import NamePlan

        plan.names = NamePlan(store, asked)
        sites = plan.names.sites(texts)
    tree, is_single = grafted(hierarchy, store, time.time()), options.make_policy().scope is Scope.SITE
    keys: set[int] = set()
    hosts: set[int] = set()
    read = 0
    async for found in sites:
        if isinstance(found, UnresolvedSeed):
            plan.missing += 1
            if len(plan.examples) < EXAMPLES:
                plan.examples.append((found.text, found.reason))
        elif hash(found.host) not in hosts:
            hosts.add(hash(found.host))
            keys.add(_key(tree, found, is_single=is_single))
        read += 1
        if read % TELL_EVERY == 0:
            progress(read)
    plan.sites, plan.subnets = len(hosts), len(keys)
    _count_held(plan, store, tree, keys, options)
    _count(plan, store, options)
    if plan.names is not None:
        plan.sites += plan.names.hosts
    return plan


def _key(tree: SubnetTree, site: Site, *, is_single: bool) -> int:
    return single(site.address) if is_single else key_of(tree, site.address)


def _count_held(
    plan: Plan, store: StorePort, tree: SubnetTree, keys: set[int], options: DelegateOptions
) -> None:
    """Count the subnets that have a crawler, and those of them that are measured again."""
    now_s, config = time.time(), options.delegator_config(time.time())
    for one in _delegations(store, tree, keys):
        if one.expires_s <= now_s:
            continue
        is_due = next_check_s(one.first, one.last, compared_s(one), config) <= now_s
        if options.again or (is_due and options.needs_agents):
            plan.due += 1
        else:
            plan.held += 1


def _delegations(store: StorePort, tree: SubnetTree, keys: set[int]) -> Iterator[Delegation]:
    """Return the delegations of subnets: one by one if they are few, else by reading all of them."""
    if store.delegations.count() > FEW * len(keys):
        found = (store.delegations.get(*bounds_of(tree, key)) for key in keys)
        yield from (one.delegation for one in found if one is not None)
        return
    for record in store.delegations.all():
        if key_of_bounds(tree, record.delegation.first, record.delegation.last) in keys:
            yield record.delegation


def _count(plan: Plan, store: StorePort, options: DelegateOptions) -> None:
    """Count the worst case and the mean case, both within the budget."""
    free = plan.subnets - plan.held
    apart, most = (plan.names.unknown + plan.names.apart, plan.names.most_probes) if plan.names else (0, 0)
    if options.policy == "predict":
        plan.price_ms, plan.aim_probes = price_of(options.probe_price_ms, plan.crawlers)
        if options.pages is not None:
            plan.price_by_pages_ms = price_range(plan.price_ms, read_pages(options.pages))
    cost = probe_cost(options.policy, crawlers=plan.crawlers, nearest=options.nearest)
    count, probes = store.delegations.probes()
    mean = cost.expected if cost.is_fixed or count < ENOUGH else min(float(plan.crawlers), probes / count)
    most += free * cost.most
    budget = options.probe_budget
    plan.most_probes = most if budget is None else min(most, budget)
    plan.expected_probes = min(plan.most_probes, round((free + apart) * mean))
