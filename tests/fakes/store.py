"""A store in plain Python."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ipmicra.edge.store.ports import (
    Address,
    BudgetState,
    Member,
    NameAnswer,
    OrderRecord,
    StateChange,
)
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import CrawlerState
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
        self.answered: set[str] = set()

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
        self.answered.update(ids)

    def release(self, name: str, ids: Iterable[str]) -> int:
        known = [
            one for one in set(ids) if self.orders.get(one, ("",))[0] == name and one not in self.answered
        ]
        for one in known:
            del self.orders[one]
        return len(known)

    def unanswered(self, name: str) -> list[OrderRecord]:
        return [
            order for owner, order in self.orders.values() if owner == name and order.id not in self.answered
        ]

    def state(self, name: str) -> BudgetState:
        if name not in self.totals:
            raise InputError("no such budget")
        spent = sum(owner == name for owner, _ in self.orders.values())
        return BudgetState(total=self.totals[name], spent=spent)


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


class FakeStore:
    """Keeps everything in memory; a failed transaction is undone from a copy."""

    def __init__(self) -> None:
        self.meta = FakeMeta()
        self.crawlers = FakeCrawlers()
        self.sites = FakeSites()
        self.samples = FakeSamples()
        self.names = FakeNames()
        self.budget = FakeBudget()
        self.assignments = FakeAssignments()

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
