"""What callers need of a store; SQLite, its fake and any other implementation pass one suite of contracts."""

# ruff: noqa: D102 - the tables, which implement these, say what each call does

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol

from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler, CrawlerState
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A crawler with the smallest subnet that holds its address."""

    crawler: Crawler
    first: Address | None = None
    last: Address | None = None
    """First and last address of the subnet; None if no hierarchy knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """When a crawler's state became what."""

    state: CrawlerState
    at_s: float
    """Seconds since 1970, UTC."""


class NameStatus(StrEnum):
    """What the DNS said of a name."""

    FOUND = "found"
    NXDOMAIN = "nxdomain"
    """There is no such name."""
    NO_ADDRESS = "no-address"
    """The name is there and has no address."""
    SERVFAIL = "servfail"
    """The server could not tell."""
    REFUSED = "refused"
    """The server would not tell."""
    TIMEOUT = "timeout"
    BAD_NAME = "bad-name"
    """Not a name that can be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameAnswer:
    """What the DNS said of a name, and until when it holds."""

    name: str
    status: NameStatus
    addresses: tuple[Address, ...] = ()
    expires_s: float = 0.0
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRecord:
    """An order for which budget was set aside."""

    id: str
    crawler: str
    address: Address | None
    reserved_s: float = 0.0
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetState:
    """How much of a budget is used."""

    total: int | None
    """Probes that may be sent in all; None for no limit."""
    spent: int
    """Probes that were sent, or may have been."""

    @property
    def left(self) -> int | None:
        """Probes that may still be sent; None for no limit."""
        return None if self.total is None else max(0, self.total - self.spent)


class MetaPort(Protocol):
    """Words by key."""

    def get(self, key: str) -> str | None: ...
    def set(self, key: str, value: str) -> None: ...


class CrawlersPort(Protocol):
    """The fleet."""

    def put(self, member: Member) -> None: ...
    def get(self, name: str) -> Member | None: ...
    def all(self, states: Sequence[CrawlerState] = ()) -> list[Member]: ...
    def set_state(self, name: str, state: CrawlerState, at_s: float) -> bool: ...
    def history(self, name: str) -> list[StateChange]: ...


class SitesPort(Protocol):
    """Sites with their pinned address."""

    def put_many(self, sites: Iterable[Site], at_s: float) -> None: ...
    def get(self, host: str) -> Site | None: ...
    def all(self) -> list[Site]: ...
    def at(self, address: Address) -> list[Site]: ...
    def forget(self, host: str) -> bool: ...


class SamplesPort(Protocol):
    """Every sample that was taken."""

    def add_many(self, samples: Iterable[Sample]) -> None: ...
    def of(self, address: Address, crawler: str | None = None, since_s: float = 0.0) -> list[Sample]: ...
    def latest(self, address: Address) -> dict[str, Sample]: ...
    def count(self) -> int: ...


class NamesPort(Protocol):
    """Answers of the DNS until they expire."""

    def get_many(self, names: Iterable[str], now_s: float) -> dict[str, NameAnswer]: ...
    def put_many(self, answers: Iterable[NameAnswer]) -> None: ...
    def prune(self, now_s: float) -> int: ...


class BudgetPort(Protocol):
    """Orders and what they cost; one order costs one probe."""

    def open(self, name: str, total: int | None) -> BudgetState: ...
    def reserve(self, name: str, orders: Sequence[OrderRecord], at_s: float) -> int: ...
    def answer(self, ids: Iterable[str], at_s: float) -> None: ...
    def release(self, name: str, ids: Iterable[str]) -> int: ...
    def unanswered(self, name: str) -> list[OrderRecord]: ...
    def state(self, name: str) -> BudgetState: ...


class AssignmentsPort(Protocol):
    """Who crawls which site, or piece of a site."""

    def put_many(self, assignments: Iterable[Assignment]) -> None: ...
    def all(self) -> list[Assignment]: ...
    def of(self, host: str) -> list[Assignment]: ...


class StorePort(Protocol):
    """All of it."""

    @property
    def meta(self) -> MetaPort: ...
    @property
    def crawlers(self) -> CrawlersPort: ...
    @property
    def sites(self) -> SitesPort: ...
    @property
    def samples(self) -> SamplesPort: ...
    @property
    def names(self) -> NamesPort: ...
    @property
    def budget(self) -> BudgetPort: ...
    @property
    def assignments(self) -> AssignmentsPort: ...
    def transaction(self) -> AbstractContextManager[None]: ...
    def close(self) -> None: ...
