"""A store in plain Python."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ipmicra.edge.store.addresses import packed
from ipmicra.edge.store.ports import (
    BatchRecord,
    Bounds,
    BudgetState,
    DelegationRecord,
    EndedDelegation,
    Graft,
    MarkRecord,
    Member,
    NameAnswer,
    OrderRecord,
    ResultRecord,
    StateChange,
)
from ipmicra.errors import InputError
from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
from ipmicra.model.recrawl import Recrawl
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site


class FakeMeta:
    def __init__(self) -> None:
        self.words: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self.words.get(key)

    def set(self, key: str, value: str) -> None:
        self.words[key] = value


class FakeCrawlers:
    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.changes: dict[str, list[StateChange]] = {}

    def put(self, member: Member) -> None:
        name, state = member.crawler.name, member.crawler.state
        before = self.members.get(name)
        self.members[name] = member
        if before is None or before.crawler.state is not state:
            self._note(name, state, member.crawler.changed_s)

    def get(self, name: str) -> Member | None:
        return self.members.get(name)

    def all(self, states: Sequence[CrawlerState] = ()) -> list[Member]:
        members = [self.members[name] for name in sorted(self.members)]
        return [member for member in members if not states or member.crawler.state in states]

    def set_state(self, name: str, state: CrawlerState, at_s: float) -> bool:
        member = self.members.get(name)
        if member is None or member.crawler.state is state:
            return False
        self.members[name] = replace(member, crawler=replace(member.crawler, state=state, changed_s=at_s))
        self._note(name, state, at_s)
        return True

    def history(self, name: str) -> list[StateChange]:
        return self.changes.get(name, [])

    def _note(self, name: str, state: CrawlerState, at_s: float) -> None:
        self.changes.setdefault(name, []).append(StateChange(state=state, at_s=at_s))


class FakeSites:
    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}

    def put_many(self, sites: Iterable[Site], at_s: float) -> None:
        for site in sites:
            self.sites.setdefault(site.host, site)

    def get(self, host: str) -> Site | None:
        return self.sites.get(host)

    def all(self) -> list[Site]:
        return list(self.sites.values())

    def at(self, address: Address) -> list[Site]:
        return [site for site in self.sites.values() if site.address == address]

    def forget(self, host: str) -> bool:
        return self.sites.pop(host, None) is not None


class FakeSamples:
    def __init__(self) -> None:
        self.samples: list[Sample] = []

    def add_many(self, samples: Iterable[Sample]) -> None:
        self.samples.extend(samples)

    def of(self, address: Address, crawler: str | None = None, since_s: float = 0.0) -> list[Sample]:
        return [
            sample
            for sample in self.samples
            if sample.address == address and crawler in (None, sample.crawler) and sample.taken_s >= since_s
        ]

    def latest(self, address: Address) -> dict[str, Sample]:
        return {sample.crawler: sample for sample in self.of(address)}

    def newest(self, count: int, since_s: float = 0.0) -> list[Sample]:
        return [sample for sample in self.samples if sample.taken_s >= since_s][-count:] if count else []

    def count(self) -> int:
        return len(self.samples)


class FakeNames:
    def __init__(self) -> None:
        self.answers: dict[str, NameAnswer] = {}

    def get_many(self, names: Iterable[str], now_s: float) -> dict[str, NameAnswer]:
        known = {name: self.answers[name] for name in names if name in self.answers}
        return {name: answer for name, answer in known.items() if answer.expires_s > now_s}

    def put_many(self, answers: Iterable[NameAnswer]) -> None:
        self.answers.update((answer.name, answer) for answer in answers)

    def prune(self, now_s: float) -> int:
        before = len(self.answers)
        self.answers = {name: one for name, one in self.answers.items() if one.expires_s > now_s}
        return before - len(self.answers)


class FakeBudget:
    def __init__(self) -> None:
        self.totals: dict[str, int | None] = {}
        self.orders: dict[str, tuple[str, OrderRecord]] = {}
        self.done: set[str] = set()

    def open(self, name: str, total: int | None) -> BudgetState:
        if total is not None and total < 0:
            raise InputError("below zero")
        self.totals[name] = total
        return self.state(name)

    def reserve(self, name: str, orders: Sequence[OrderRecord], at_s: float) -> int:
        left = self.state(name).left
        granted = orders if left is None else orders[:left]
        self.orders.update((order.id, (name, replace(order, reserved_s=at_s))) for order in granted)
        return len(granted)

    def answer(self, ids: Iterable[str], at_s: float) -> None:
        self.done.update(ids)

    def release(self, name: str, ids: Iterable[str]) -> int:
        known = [one for one in set(ids) if self.orders.get(one, ("",))[0] == name and one not in self.done]
        for one in known:
            del self.orders[one]
        return len(known)

    def unanswered(self, name: str) -> list[OrderRecord]:
        return [order for owner, order in self.orders.values() if owner == name and order.id not in self.done]

    def answered(self, name: str) -> list[OrderRecord]:
        return [order for owner, order in self.orders.values() if owner == name and order.id in self.done]

    def state(self, name: str) -> BudgetState:
        if name not in self.totals:
            raise InputError("no such budget")
        spent = sum(owner == name for owner, _ in self.orders.values())
        return BudgetState(total=self.totals[name], spent=spent)


class FakeDelegations:
    def __init__(self) -> None:
        self.records: dict[Bounds, DelegationRecord] = {}
        self.ended: list[EndedDelegation] = []

    def put_many(self, records: Iterable[DelegationRecord]) -> None:
        for record in records:
            new = record.delegation
            old = self.records.get((new.first, new.last))
            if old and (old.delegation.created_s, old.delegation.crawler) != (new.created_s, new.crawler):
                self.ended.append(EndedDelegation(record=old, ended_s=new.created_s, reason="decided anew"))
            self.records[new.first, new.last] = record

    def renew_many(self, expiries: Iterable[tuple[Bounds, float]]) -> None:
        for bounds, expires_s in expiries:
            if old := self.records.get(bounds):
                renewed = replace(old.delegation, expires_s=expires_s)
                self.records[bounds] = replace(old, delegation=renewed)

    def end_many(self, ended: Iterable[tuple[Bounds, str]], at_s: float) -> None:
        for bounds, reason in ended:
            if old := self.records.pop(bounds, None):
                self.ended.append(EndedDelegation(record=old, ended_s=at_s, reason=reason))

    def get(self, first: Address, last: Address) -> DelegationRecord | None:
        return self.records.get((first, last))

    def all(self) -> Iterator[DelegationRecord]:
        yield from [replace(self.records[key], account=()) for key in sorted(self.records, key=_wide_first)]

    def history(self, first: Address, last: Address) -> list[EndedDelegation]:
        return [
            one
            for one in self.ended
            if (one.record.delegation.first, one.record.delegation.last) == (first, last)
        ]

    def count(self) -> int:
        return len(self.records)

    def probes(self) -> tuple[int, int]:
        counts = [one.delegation.probes for one in self.records.values() if one.delegation.probes]
        return len(counts), sum(counts)


def _wide_first(bounds: Bounds) -> tuple[bytes, int]:
    return packed(bounds[0]), -int(bounds[1])


class FakeBatches:
    def __init__(self) -> None:
        self.records: list[BatchRecord] = []

    def begin(self, key: str, words: str, at_s: float) -> BatchRecord:
        for one in self.records:
            if one.key == key and one.ended_s is None:
                return one
        made = BatchRecord(id=len(self.records) + 1, key=key, words=words, started_s=at_s)
        self.records.append(made)
        return made

    def end(self, number: int, at_s: float) -> None:
        self.records[number - 1] = replace(self.records[number - 1], ended_s=at_s)

    def all(self) -> list[BatchRecord]:
        return list(self.records)


class FakeResults:
    def __init__(self) -> None:
        self.records: dict[tuple[int, str], ResultRecord] = {}

    def add_many(self, batch: int, results: Iterable[ResultRecord]) -> None:
        for one in results:
            self.records.setdefault((batch, one.host), one)

    def of(self, batch: int, hosts: Sequence[str]) -> dict[str, ResultRecord]:
        return {host: self.records[batch, host] for host in hosts if (batch, host) in self.records}

    def all(self, batch: int) -> Iterator[ResultRecord]:
        yield from [self.records[key] for key in sorted(self.records) if key[0] == batch]

    def latest(self, host: str) -> ResultRecord | None:
        found = [one for (_, name), one in sorted(self.records.items()) if name == host]
        return found[-1] if found else None

    def count(self, batch: int) -> int:
        return sum(number == batch for number, _ in self.records)


class FakeMarks:
    def __init__(self) -> None:
        self.records: dict[tuple[str, Address], MarkRecord] = {}

    def add_many(self, marks: Iterable[MarkRecord]) -> None:
        for one in marks:
            self.records.setdefault((one.crawler, one.address), one)

    def remove_many(self, pairs: Iterable[tuple[str, Address]]) -> None:
        for pair in pairs:
            self.records.pop(pair, None)

    def all(self) -> list[MarkRecord]:
        return list(self.records.values())


class FakeGrafts:
    def __init__(self) -> None:
        self.records: dict[Bounds, Graft] = {}

    def put(self, graft: Graft) -> None:
        self.records[graft.first, graft.last] = graft

    def all(self) -> list[Graft]:
        return [self.records[key] for key in sorted(self.records, key=_wide_first)]


class FakeAssignments:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, int], Assignment] = {}

    def put_many(self, assignments: Iterable[Assignment]) -> None:
        new = list(assignments)
        hosts = {one.host for one in new}
        self.kept = {key: one for key, one in self.kept.items() if one.host not in hosts}
        self.kept |= {(one.host, one.piece): one for one in new}

    def all(self) -> list[Assignment]:
        return [self.kept[key] for key in sorted(self.kept)]

    def of(self, host: str) -> list[Assignment]:
        return [one for one in self.all() if one.host == host]


class FakeRecrawls:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, int], Recrawl] = {}

    def put_many(self, recrawls: Iterable[Recrawl]) -> None:
        new = list(recrawls)
        hosts = {one.host for one in new}
        self.kept = {key: one for key, one in self.kept.items() if one.host not in hosts}
        self.kept |= {(one.host, one.piece): one for one in new}

    def all(self) -> list[Recrawl]:
        return [self.kept[key] for key in sorted(self.kept)]

    def of(self, host: str) -> list[Recrawl]:
        return [one for one in self.all() if one.host == host]


class FakeStates:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def put(self, name: str, data: bytes, at_s: float) -> None:
        self.kept[name] = data

    def forget(self, name: str) -> bool:
        return self.kept.pop(name, None) is not None


class FakeStore:
    """Keeps everything in memory; a failed transaction is undone from a copy."""

    def __init__(self) -> None:
        self.meta = FakeMeta()
        self.crawlers = FakeCrawlers()
        self.sites = FakeSites()
        self.samples = FakeSamples()
        self.names = FakeNames()
        self.budget = FakeBudget()
        self.delegations = FakeDelegations()
        self.batches = FakeBatches()
        self.results = FakeResults()
        self.marks = FakeMarks()
        self.grafts = FakeGrafts()
        self.assignments = FakeAssignments()
        self.states = FakeStates()
        self.recrawls = FakeRecrawls()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        parts: dict[str, dict[str, Any]] = {
            name: {field: copy.copy(value) for field, value in vars(part).items()}
            for name, part in vars(self).items()
        }
        try:
            yield
        except BaseException:
            for name, fields in parts.items():
                vars(getattr(self, name)).update(fields)
            raise

    def close(self) -> None:
        pass
