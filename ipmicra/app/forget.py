"""`ipmicra forget`: drop the answers for sites, subnets or a policy, and what rests on them.

How it works
------------
First all that is to go is found, then it goes in one transaction; a dry run stops in between.

1. *Delegations* that were named: those inside a range, those of a policy, and of a site the one of its own
   address and the one that was decided for it.
2. Delegations that rest on one of those (`Origin`), such as another subnet of the organisation. What they
   rest on is gone, so they go as well, and so on until nothing more is found.
3. *Sites* that were named, and those that were answered from these delegations. Their results and assignments
   go, since both rest on the answer.

A site that was named also loses what is known of its name: the pinned address, the cached answer of the DNS,
what agents saw of it, and its schedule of crawls. Ended delegations stay in the history. Samples are
measurements and no answers: they stay unless the user wants them gone, and then what was learnt from them
goes, too.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipmicra.app.assign.assign import OVERLAY
from ipmicra.app.assign.whereabouts import forget_trips
from ipmicra.app.home import Home, home_at
from ipmicra.delegate.policies.registry import POLICIES
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed, read_seeds, redacted
from ipmicra.edge.store.ports import Bounds, DelegationRecord, StorePort
from ipmicra.errors import InputError
from ipmicra.model.address import Address, range_text
from ipmicra.model.delegation import OWN, Delegation

UNKNOWN = "unknown"
"""Stands for the policy of delegations that an earlier version stored."""
FORGETTABLE = (*POLICIES, OWN, UNKNOWN)
FORGOTTEN = "the user had it forgotten"
"""Why a delegation ended."""
NAMED = "named"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """One thing that goes."""

    kind: str
    """delegation, result, assignment, name, schedule, samples or zones."""
    what: str
    """A subnet or a host."""
    crawler: str | None = None
    policy: str | None = None
    count: int = 1
    reason: str = NAMED

    def record(self) -> dict[str, Any]:
        """Describe it as JSON does."""
        return {
            name: getattr(self, name) for name in ("kind", "what", "crawler", "policy", "count", "reason")
        }


@dataclass(slots=True)
class Forgetting:
    """What is to go, and what is not although a user might think so."""

    delegations: dict[Bounds, tuple[Delegation, str]] = field(default_factory=dict)
    """With the reason why each goes."""
    sites: dict[str, Address | None] = field(default_factory=dict)
    """Hosts that were named, with their addresses as far as known."""
    ranges: list[Bounds] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Targets of which nothing is known."""
    kept: list[str] = field(default_factory=list)
    """Remarks on what stays."""

    @property
    def counts(self) -> Counter[str]:
        """Count by kind."""
        found: Counter[str] = Counter()
        for one in self.dropped:
            found[one.kind] += one.count
        return found

    def record(self) -> dict[str, Any]:
        """Describe it as JSON does."""
        return {
            "dropped": [one.record() for one in self.dropped],
            "kept": self.kept,
            "unknown": self.unknown,
            "counts": dict(self.counts),
        }


def forget(
    home: Home | Path | str | None = None,
    *targets: str,
    policy: str | None = None,
    samples: bool = False,
    dry_run: bool = False,
    clock: Callable[[], float] = time.time,
) -> Forgetting:
    """Forget hosts, addresses, prefixes and ranges, or all that a policy answered; return what goes.

    Raises:
        InputError: Neither or both of targets and policy are given, or one of them makes no sense.
        StoreBusyError: Sites are being delegated or assigned.
    """
    place = home_at(home)
    check_forgetting(targets, policy)
    seeds = [parse_seed(text) for text in read_seeds(targets)] if targets else []
    with ExitStack() as stack:
        purposes = () if dry_run else ("delegate", "assign")
        command = redacted("ipmicra forget", *targets)
        locks = [stack.enter_context(place.lock(purpose, command)) for purpose in purposes]
        store = stack.enter_context(place.open_store())
        for lock in locks:
            lock.protect(store)
        found = find_forgotten(store, seeds, policy, samples=samples)
        if not dry_run:
            drop(store, found, clock(), samples=samples)
    return found


def check_forgetting(targets: Sequence[str], policy: str | None) -> None:
    """Refuse to forget nothing, two things at once, or what an unknown policy decided."""
    if bool(targets) == (policy is not None):
        raise InputError("name what to forget: hosts or subnets, or --policy NAME, but not both")
    if policy is not None and policy not in FORGETTABLE:
        raise InputError(f"no policy {policy!r}: there are {', '.join(FORGETTABLE)}")


def find_forgotten(
    store: StorePort, seeds: Sequence[Seed | UnresolvedSeed], policy: str | None, *, samples: bool
) -> Forgetting:
    """Find what goes; nothing is changed."""
    found = Forgetting()
    for seed in seeds:
        if isinstance(seed, UnresolvedSeed):
            raise InputError(f"{seed.text}: {seed.reason}")
        if seed.is_range and seed.first is not None and seed.last is not None:
            found.ranges.append((seed.first, seed.last))
        else:
            found.sites[seed.host] = seed.address or _address_of(store, seed.host)
    records = list(store.delegations.all())
    _find_delegations(found, records, policy)
    _find_dependent(found, records)
    _list_delegations(found)
    _list_sites(found, store)
    if samples:
        _list_samples(found, store)
    _remark(found, records)
    return found


def _address_of(store: StorePort, host: str) -> Address | None:
    site, result = store.sites.get(host), store.results.latest(host)
    return site.address if site else result.address if result else None


def _find_delegations(found: Forgetting, records: Iterable[DelegationRecord], policy: str | None) -> None:
    addresses = {address: host for host, address in found.sites.items() if address is not None}
    for record in records:
        one = record.delegation
        if policy is not None:
            reason = f"decided by {policy}" if (one.policy or UNKNOWN) == policy else None
        elif any(_is_inside((one.first, one.last), bounds) for bounds in found.ranges):
            reason = NAMED
        else:
            host = addresses.get(one.first) if one.first == one.last else None
            host = host or (addresses.get(record.address) if record.address else None)
            reason = f"decided for {host}" if host else None
        if reason is not None:
            found.delegations[one.first, one.last] = one, reason


def _find_dependent(found: Forgetting, records: Sequence[DelegationRecord]) -> None:
    """Add delegations that were taken over from those that go, until there are no more.

    One that rests on a single address rests on a sample, and not on who has that address.
    """
    resting = [one.delegation for one in records if _is_taken_over(one.delegation)]
    is_new = True
    while is_new:
        gone, is_new = _Ranges(found.delegations), False
        for one in resting:
            origin, bounds = one.origin, (one.first, one.last)
            if bounds not in found.delegations and origin and gone.hold((origin.first, origin.last)):
                found.delegations[bounds] = one, f"rests on {origin.text}"
                is_new = True


def _is_taken_over(one: Delegation) -> bool:
    return one.origin is not None and one.origin.first != one.origin.last


class _Ranges:
    """Ranges of addresses, for many questions whether one of them holds another range."""

    def __init__(self, ranges: Iterable[Bounds]) -> None:
        by_family: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
        for first, last in ranges:
            by_family[first.version].append((int(first), int(last)))
        self._starts: dict[int, list[int]] = {}
        self._ends: dict[int, list[int]] = {}
        for family, found in by_family.items():
            widest: list[tuple[int, int]] = []
            for first_number, last_number in sorted(found, key=lambda one: (one[0], -one[1])):
                if not widest or last_number > widest[-1][1]:
                    widest.append((first_number, last_number))
            self._starts[family] = [start for start, _ in widest]
            self._ends[family] = [end for _, end in widest]

    def hold(self, bounds: Bounds) -> bool:
        """Return whether one of the ranges holds another."""
        family = bounds[0].version
        place = bisect_right(self._starts[family], int(bounds[0])) - 1
        return place >= 0 and int(bounds[1]) <= self._ends[family][place]


def _is_inside(inner: Bounds, outer: Bounds) -> bool:
    is_same_family = inner[0].version == outer[0].version
    return is_same_family and int(outer[0]) <= int(inner[0]) and int(inner[1]) <= int(outer[1])


# --- what goes, one by one


def _list_delegations(found: Forgetting) -> None:
    for one, reason in found.delegations.values():
        found.dropped.append(
            Dropped(
                kind="delegation",
                what=range_text(one.first, one.last),
                crawler=one.crawler,
                policy=one.policy or UNKNOWN,
                reason=reason,
            )
        )


def _list_sites(found: Forgetting, store: StorePort) -> None:
    """List what rests on the answers of sites, and what is known of the names of those that were named."""
    resting = {one.host: one for one in store.results.resting_on(found.delegations)}
    for host in found.sites:
        latest = store.results.latest(host)
        if latest is not None:
            resting[host] = latest
    for host, one in resting.items():
        reason = NAMED if host in found.sites else f"answered from {one.subnet}"
        found.dropped.append(Dropped(kind="result", what=host, crawler=one.crawler, reason=reason))
    for host in {**resting, **found.sites}:
        pieces = store.assignments.of(host)
        if pieces:
            reason = NAMED if host in found.sites else "its answer goes"
            found.dropped.append(
                Dropped(
                    kind="assignment", what=host, crawler=pieces[0].crawler, count=len(pieces), reason=reason
                )
            )
    for host in found.sites:
        if store.sites.get(host) is not None or store.views.of([host]) or store.site_answers.get(host):
            found.dropped.append(Dropped(kind="name", what=host))
        schedules = store.recrawls.of(host)
        if schedules:
            found.dropped.append(Dropped(kind="schedule", what=host, count=len(schedules)))


def _list_samples(found: Forgetting, store: StorePort) -> None:
    for bounds in _measured(found):
        count = store.samples.within(bounds)
        if count:
            found.dropped.append(Dropped(kind="samples", what=range_text(*bounds), count=count))
    if found.counts["samples"] and store.states.get(OVERLAY) is not None:
        reason = "learnt from samples; the next `ipmicra assign` draws them anew"
        found.dropped.append(Dropped(kind="zones", what="all", reason=reason))


def _measured(found: Forgetting) -> list[Bounds]:
    """Return the ranges whose samples go: what was named, and the delegations of a policy."""
    named = [*found.ranges, *((one, one) for one in found.sites.values() if one is not None)]
    return named or list(found.delegations)


def _remark(found: Forgetting, records: Iterable[DelegationRecord]) -> None:
    """Note targets of which nothing is known, and wider delegations that stay and will answer again."""
    named = {host: (one, one) for host, one in found.sites.items() if one is not None}
    named.update((range_text(*bounds), bounds) for bounds in found.ranges)
    staying = [one.delegation for one in records]
    for text, bounds in named.items():
        for one in staying:
            own = one.first, one.last
            if own not in found.delegations and own != bounds and _is_inside(bounds, own):
                subnet = range_text(*own)
                found.kept.append(
                    f"{text} lies in {subnet}, which stays {one.crawler}'s: `ipmicra forget {subnet}`"
                )
    what = {one.what for one in found.dropped}
    for host in found.sites:
        if host not in what and not any(reason.endswith(host) for _, reason in found.delegations.values()):
            found.unknown.append(host)
    for bounds in found.ranges:
        has_samples = range_text(*bounds) in what
        if not has_samples and not any(_is_inside(one, bounds) for one in found.delegations):
            found.unknown.append(range_text(*bounds))


def drop(store: StorePort, found: Forgetting, now_s: float, *, samples: bool) -> None:
    """Do it, all or nothing."""
    hosts = [one.what for one in found.dropped if one.kind == "assignment"]
    with store.transaction():
        store.delegations.end_many(((bounds, FORGOTTEN) for bounds in found.delegations), now_s)
        store.results.forget(found.sites, found.delegations)
        store.assignments.forget(hosts)
        store.recrawls.forget(found.sites)
        for host in found.sites:
            store.sites.forget(host)
            store.names.forget(host)
            store.views.forget(host)
            store.site_answers.forget(host)
        if samples:
            for bounds in _measured(found):
                store.samples.forget(bounds)
            forget_trips(store)
            store.states.forget(OVERLAY)
