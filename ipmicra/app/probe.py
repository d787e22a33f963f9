"""Probes as a use case: targets in, samples out, by the fleet's agents or from this machine.

How it works
------------
Targets are resolved here and their addresses pinned, so that all crawlers probe the same machine; hosts
that share an address are probed once, and each gets the sample (`_together`). With `is_resolved_there` each
crawler resolves by itself. A sample then names an address that was not known before, and the only way to
tell whose it is is to probe such hosts one after another.

Probes from crawlers go through `OrderDesk`: the budget is charged in the store before an order is sent. The
budget of this command counts over all runs, so `open_budget` raises its limit by what this run may spend.
Probes from this machine use the agent's own service, with its rules for addresses and ports, and their
samples are not stored.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.home import Home
from ipmicra.edge.agent.access import read_token
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.orders import UNRESOLVED, DeskConfig, OrderDesk, order_of, sample_of
from ipmicra.edge.dns.bulk import NO_SITE, grouped, resolve_seeds
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.files.seeds import UnresolvedSeed, parse_seed, read_seeds
from ipmicra.edge.log import EventLog
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.errors import InputError
from ipmicra.model.probe import Probe
from ipmicra.model.quantities import plural
from ipmicra.model.sample import Loss, Rung, Sample
from ipmicra.model.site import Site

events = EventLog("probe")
HERE = "here"
"""Name under which samples taken from this machine are shown."""
ALL, LANDMARKS = "all", "landmarks"
"""Names that stand for crawlers: those with an agent, and those of them that place sites best."""
BUDGET = "ipmicra probe"
"""Name of the budget of single probes: each run starts it anew."""


def agent_access(
    token_file: Path | None, authority: Path | None, certificate: Path | None, key: Path | None
) -> AgentAccess:
    """Return the credentials for agents; without a file the token is that of the environment."""
    return AgentAccess(token=read_token(token_file), authority=authority, certificate=certificate, key=key)


def probe_config(samples: int, timeout_ms: float, first_rung: Rung, budget: str = "probes") -> DeskConfig:
    """Return what each probe measures, and the budget that is charged for it."""
    return DeskConfig(budget=budget, samples=samples, timeout_ms=timeout_ms, first_rung=first_rung)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """What a user wants probed and how."""

    crawlers: tuple[str, ...] = ()
    """Names, or `all`; none means this machine."""
    desk: DeskConfig = field(default_factory=lambda: DeskConfig(budget=BUDGET))
    access: AgentAccess = field(default_factory=AgentAccess)
    budget: int | None = None
    """Probes that may be sent; None for no limit."""
    allowed: tuple[str, ...] = ()
    """Prefixes that this machine may probe although they are not public."""
    is_resolved_there: bool = False
    """Let each crawler resolve names by itself."""
    landmarks: int = 20
    """How many crawlers `landmarks` stands for at most."""
    announce: Callable[[str], None] = lambda _message: None
    """Called with what the probes cost, before they are sent."""
    dns: DnsConfig = field(default_factory=DnsConfig)


@dataclass(slots=True)
class ProbeReport:
    """What came of it."""

    samples: list[tuple[str, Sample]] = field(default_factory=list)
    """Target as it was written, and its sample."""
    unresolved: list[UnresolvedSeed] = field(default_factory=list)
    unmeasurable: list[str] = field(default_factory=list)
    """Crawlers that no other can measure."""

    @property
    def is_complete(self) -> bool:
        """Whether each target has a round trip from each crawler."""
        return not self.unresolved and all(sample.loss is None for _, sample in self.samples)


def probe_home(home: Home, words: Sequence[str], options: ProbeOptions) -> ProbeReport:
    """Probe what a user named from crawlers of the home's fleet."""
    with home.open_store() as store:
        return probe_targets(Fleet(store), store, list(read_seeds(words)), options)


def probe_targets(fleet: Fleet, store: StorePort, texts: Sequence[str], options: ProbeOptions) -> ProbeReport:
    """Probe targets from crawlers; sites that share an address are probed once."""
    return asyncio.run(_probe_targets(fleet, store, texts, options))


async def _probe_targets(
    fleet: Fleet, store: StorePort, texts: Sequence[str], options: ProbeOptions
) -> ProbeReport:
    members = members_of(fleet, store, options)
    report = ProbeReport()
    sites = await _sites(store, texts, options, report)
    if LANDMARKS in options.crawlers:
        addresses = len({site.address for site in sites})
        options.announce(
            f"{plural(addresses * len(members), 'probe')}: {plural(addresses, 'address', 'addresses')} "
            f"from {plural(len(members), 'landmark')} "
            f"({', '.join(members)})"
        )
    events.info(
        "probing_begun",
        "{sites} sites from {crawlers} crawlers",
        sites=len(sites),
        crawlers=len(members) or 1,
        unresolved=len(report.unresolved),
    )
    open_budget(store, options)
    left = options.budget
    for group in _together(sites):
        hosts = {site.address: [one.host for one in same] for site, same in group}
        probes = [_probe(name, site) for site, _ in group for name in members or (HERE,)]
        async for sample in samples_of(fleet, store, members, probes, replace(options, budget=left)):
            for host in hosts.get(sample.address) or next(iter(hosts.values())):
                report.samples.append((host, sample))
        left = None if left is None else max(0, left - len(probes))
    lost = sum(sample.loss is not None for _, sample in report.samples)
    events.info("probing_ended", "{samples} samples, {lost} lost", samples=len(report.samples), lost=lost)
    return report


def _probe(crawler: str, site: Site) -> Probe:
    return Probe(
        crawler=crawler,
        address=site.address if int(site.address) else None,
        host=None if site.host == str(site.address) else site.host,
        scheme=site.scheme,
        port=site.port,
    )


def open_budget(store: StorePort, options: ProbeOptions) -> None:
    """Allow as many probes as were named beyond those of earlier runs."""
    name, budget = options.desk.budget, options.budget
    spent = store.budget.open(name, None).spent
    store.budget.open(name, None if budget is None else spent + budget)


def members_of(fleet: Fleet, store: StorePort, options: ProbeOptions) -> dict[str, Member]:
    """Return the crawlers that probe; `landmarks` stands for those whose samples place sites best."""
    if LANDMARKS not in options.crawlers:
        return chosen_members(fleet, options.crawlers)
    from ipmicra.app.fleet.landmarks import landmarks_of

    named = [name for name in options.crawlers if name != LANDMARKS]
    return chosen_members(fleet, named) | landmarks_of(chosen_members(fleet, [ALL]), store, options.landmarks)


def chosen_members(fleet: Fleet, names: Sequence[str]) -> dict[str, Member]:
    """Return the crawlers that were named; `all` stands for those with an agent."""
    if ALL not in names:
        return {name: fleet.get(name) for name in names}
    members = {one.crawler.name: one for one in fleet.members() if one.crawler.agent_url}
    if not members:
        raise InputError(
            "no crawler has an agent: add one with `ipmicra crawler add NAME ADDRESS --agent-url URL`"
        )
    return members


def _together(sites: list[Site]) -> list[list[tuple[Site, list[Site]]]]:
    """Return one site for each address with those that share it, to be probed at the same time.

    Hosts that the crawlers resolve by themselves are probed one after the other, since only then it is
    known whose sample is whose.
    """
    known = [(same[0], same) for same in grouped(site for site in sites if int(site.address)).values()]
    return [known, *([(site, [site])] for site in sites if not int(site.address))]


async def _sites(
    store: StorePort, texts: Sequence[str], options: ProbeOptions, report: ProbeReport
) -> list[Site]:
    """Resolve targets and pin their addresses, or leave that to the crawlers."""
    sites: list[Site] = []
    if options.is_resolved_there:
        for seed in map(parse_seed, texts):
            if isinstance(seed, UnresolvedSeed):
                report.unresolved.append(seed)
            elif seed.is_range:
                report.unresolved.append(UnresolvedSeed(text=seed.text, reason=NO_SITE))
            else:
                sites.append(Site(seed.host, seed.address or UNRESOLVED, seed.scheme, seed.port))
        return sites
    async for found in resolve_seeds(texts, store, options.dns):
        if isinstance(found, UnresolvedSeed):
            report.unresolved.append(found)
        else:
            sites.append(found)
    return sites


async def samples_of(
    fleet: Fleet,
    store: StorePort,
    members: dict[str, Member],
    probes: list[Probe],
    options: ProbeOptions,
) -> AsyncIterator[Sample]:
    """Yield the samples of probes as they come, by the members' agents or, without members, from here."""
    if not members:
        async for sample in _samples_from_here(probes, options):
            yield sample
        return
    crawlers = {name: member.crawler for name, member in members.items()}
    desk = OrderDesk(store, crawlers, options.access, options.desk, on_state=fleet.mark)
    async with desk:
        async for sample in desk.probe(probes):
            yield sample


async def _samples_from_here(probes: list[Probe], options: ProbeOptions) -> AsyncIterator[Sample]:
    """Probe from this machine, by the rules that agents keep."""
    from ipmicra.edge.address_policy import WEB_PORTS, AddressPolicy
    from ipmicra.edge.agent.service import ProbeService
    from ipmicra.edge.prober.ladder import Prober
    from ipmicra.edge.prober.sockets import Dialler
    from ipmicra.wire.messages import ProbeRequest

    ports = {probe.port for probe in probes if probe.port is not None}
    policy = AddressPolicy(options.allowed, {*WEB_PORTS, *ports})
    async with DnsClient(options.dns) as client:
        prober = Prober(dialler=Dialler(permit=policy.refusal), resolve=resolving(client))
        granted = probes if options.budget is None else probes[: options.budget]
        orders = tuple(order_of(str(number), probe, options.desk) for number, probe in enumerate(granted))
        for probe in probes[len(granted) :]:
            yield _unpaid(probe)
        async for answers in ProbeService(prober).answers(ProbeRequest(orders=orders)):
            for answer in answers:
                yield sample_of(HERE, None, answer)


def _unpaid(probe: Probe) -> Sample:
    return Sample(
        crawler=probe.crawler,
        address=probe.address or UNRESOLVED,
        rtt_ms=None,
        loss=Loss.BUDGET,
        detail="the probe budget is spent",
        taken_s=time.time(),
    )


def resolving(client: DnsClient) -> Callable[[str], Any]:
    """Make the call by which a prober resolves names."""

    async def resolve(name: str) -> list[Any]:
        answer = await client.ask(name)
        if not answer.addresses:
            raise InputError(REASONS[answer.status.value])
        return list(answer.addresses)

    return resolve
