"""Round trips between crawlers, from which their coordinates are made, and the landmarks that measure sites.

The cost is known before the first probe: plans are made here, shown by the command, and then carried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.probe import ALL, ProbeOptions, ProbeReport, chosen_members, open_budget, samples_of
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.errors import InputError
from ipmicra.model.probe import Probe
from ipmicra.model.quantities import plural
from ipmicra.model.sample import Loss, Sample

OURS = frozenset({Loss.AGENT, Loss.BUDGET, Loss.RATE_LIMITED, Loss.REFUSED_ORDER, Loss.IMPOSSIBLE})
"""Losses for which the target is not to blame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutualPlan:
    """The probes by which crawlers measure each other."""

    probes: tuple[Probe, ...]
    members: dict[str, Member]
    """Those that probe."""
    targets: dict[str, Member]
    known: int
    """Pairs that are left out because they were measured before."""

    def cost(self) -> str:
        """Say what it costs."""
        known = f", {self.known} pairs are known already" if self.known else ""
        members = plural(len(self.members), "crawler")
        return f"{plural(len(self.probes), 'probe')}: {members} measure {len(self.targets)}{known}"


def plan_mutual(
    fleet: Fleet,
    store: StorePort,
    names: Sequence[str],
    *,
    port: int | None = None,
    only_missing: bool = False,
) -> MutualPlan:
    """Plan the probes from and to the crawlers that were named, all if none was.

    A pair is a crawler with an agent and the address of another. `only_missing` leaves out pairs with a round
    trip in the store, either way.
    """
    everybody = {member.crawler.name: member for member in fleet.members()}
    chosen = {name: fleet.get(name) for name in names} or everybody
    if len(everybody) < 2:  # noqa: PLR2004 - nothing between fewer
        raise InputError("there is nothing to measure between fewer than two crawlers: `ipmicra crawler add`")
    able = chosen_members(fleet, [ALL])
    known = _known_pairs(store, everybody) if only_missing else set()
    pairs = [
        (name, target)
        for name in able
        for target in everybody
        if name != target and (name in chosen or target in chosen)
    ]
    wanted = [(name, target) for name, target in pairs if frozenset((name, target)) not in known]
    return MutualPlan(
        probes=tuple(
            Probe(crawler=name, address=everybody[target].crawler.address, port=port)
            for name, target in wanted
        ),
        members={name: able[name] for name in dict.fromkeys(name for name, _ in wanted)},
        targets={target: everybody[target] for target in dict.fromkeys(target for _, target in wanted)},
        known=len(pairs) - len(wanted),
    )


def _known_pairs(store: StorePort, members: dict[str, Member]) -> set[frozenset[str]]:
    return {
        frozenset((sample.crawler, name))
        for name, member in members.items()
        for sample in store.samples.latest(member.crawler.address).values()
        if sample.rtt_ms is not None
    }


def measure_fleet(fleet: Fleet, store: StorePort, plan: MutualPlan, options: ProbeOptions) -> ProbeReport:
    """Carry out a plan; samples are kept in the store."""
    return asyncio.run(measured(fleet, store, plan, options))


async def measured(fleet: Fleet, store: StorePort, plan: MutualPlan, options: ProbeOptions) -> ProbeReport:
    """Carry out a plan in a loop that runs already."""
    report = ProbeReport()
    names = {member.crawler.address: name for name, member in plan.targets.items()}
    open_budget(store, options)
    if plan.probes:
        async for sample in samples_of(fleet, store, plan.members, list(plan.probes), options):
            report.samples.append((names.get(sample.address, str(sample.address)), sample))
    report.unmeasurable += unmeasurable(report.samples)
    return report


def unmeasurable(samples: Sequence[tuple[str, Sample]]) -> list[str]:
    """Return the targets that were probed and never answered, by name.

    A crawler behind NAT has no open port. A refused connection is an answer, and so is an echo; whoever gives
    neither cannot be measured from outside. Losses on our own side tell nothing about a target.
    """
    lost: dict[str, bool] = {}
    for target, sample in samples:
        if sample.rtt_ms is not None:
            lost[target] = False
        elif sample.loss not in OURS:
            lost.setdefault(target, True)
    return sorted(name for name, is_lost in lost.items() if is_lost)
