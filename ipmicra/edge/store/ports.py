"""Define what callers need from a store, and the records it exchanges; all stores pass one contract suite.

There is one protocol per table, and `StorePort` names them all, so that another database can take SQLite's
place. Times are seconds since 1970, UTC; addresses are objects of `ipaddress`.
"""

# ruff: noqa: D102 - the tables, which implement these, say what each call does
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ipmicra.assign.balance.load import FleetLoads
from ipmicra.delegate.actions import AnsweredMany
from ipmicra.delegate.attempt import Considered
from ipmicra.model.address import Address
from ipmicra.model.assignment import Assignment, AssignmentChange
from ipmicra.model.crawler import Crawler, CrawlerState, TrackRecord
from ipmicra.model.delegation import Decision, Delegation
from ipmicra.model.location import Location
from ipmicra.model.name import NameAnswer, View
from ipmicra.model.recrawl import Recrawl
from ipmicra.model.sample import ImplausibleSample, Sample
from ipmicra.model.site import Site
from ipmicra.model.token import TokenRecord

Bounds = tuple[Address, Address]
"""First and last address of a subnet."""
T = TypeVar("T")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRecord:
    """An order for which budget was reserved."""

    id: str
    crawler: str
    address: Address | None
    reserved_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetState:
    """How much of a budget is used."""

    total: int | None
    """Probes that may be sent in all; None for no limit."""
    spent: int
    """Probes that were sent, or may have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationRecord:
    """A delegation with what is needed to explain and to resume it."""

    delegation: Delegation
    address: Address | None = None
    """The site it was decided for; None for a crawler's own subnet."""
    location: Location | None = None
    """Where that site is thought to be."""
    account: tuple[Considered, ...] = ()
    """Why each crawler was asked or not, as far as it was written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAnswer:
    """The answer for a site that crawlers see at different addresses: it holds for no subnet."""

    host: str
    delegation: Delegation
    """Of the one address that its crawler sees."""
    account: tuple[Considered, ...] = ()
    """What each crawler sees, and its round trip to there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedDelegation:
    """A delegation that is no more."""

    record: DelegationRecord
    ended_s: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """A list of seeds that is being delegated, or was."""

    id: int
    key: str
    """The same for the same command."""
    words: str
    """The command, for people."""
    started_s: float
    ended_s: float | None = None
    """None as long as something is left to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graft:
    """A registration that was asked for by itself."""

    first: Address
    last: Address
    handle: str | None
    """Of the organisation."""
    name: str | None
    country: str | None
    asked_s: float

    @property
    def is_known(self) -> bool:
        """Whether anybody registered the range."""
        return self.handle is not None or self.name is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetTrips:
    """The last round trips from a crawler to the sites of a subnet."""

    first: Address
    last: Address
    crawler: str
    last_ms: tuple[float, ...]
    """Oldest first; each is the median of one probe."""
    taken_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord:
    """An agent that joined by calling out."""

    crawler: str
    id: str
    """Chosen when it joined; another one after it joined anew."""
    joined_s: float
    seen_s: float
    """When it last polled; seconds since 1970, UTC, known to the minute."""
    software: str
    """Its version of ipmicra."""


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
    def move_many(self, sites: Iterable[Site], at_s: float) -> None: ...
    def get(self, host: str) -> Site | None: ...
    def all(self) -> list[Site]: ...
    def after(self, host: str, count: int) -> list[Site]: ...
    def of_many(self, hosts: Sequence[str]) -> dict[str, Site]: ...
    def at(self, address: Address) -> list[Site]: ...
    def forget(self, host: str) -> bool: ...


class SamplesPort(Protocol):
    """Every sample that was taken."""

    def add_many(self, samples: Iterable[Sample]) -> None: ...
    def of(self, address: Address, crawler: str | None = None, since_s: float = 0.0) -> list[Sample]: ...
    def latest(self, address: Address) -> dict[str, Sample]: ...
    def crawled(self, address: Address, count: int = 20) -> list[Sample]: ...
    def newest(self, count: int, since_s: float = 0.0) -> list[Sample]: ...
    def after(self, mark: int, count: int) -> tuple[int, list[Sample]]: ...
    def last_mark(self) -> int: ...
    def in_range(self, bounds: Bounds, count: int) -> list[Sample]: ...
    def within(self, bounds: Bounds) -> int: ...
    def forget(self, bounds: Bounds) -> int: ...
    def count(self) -> int: ...


class NamesPort(Protocol):
    """Answers of the DNS until they expire."""

    def get_many(self, names: Iterable[str], now_s: float) -> dict[str, NameAnswer]: ...
    def put_many(self, answers: Iterable[NameAnswer]) -> None: ...
    def forget(self, name: str) -> bool: ...
    def prune(self, now_s: float) -> int: ...


class ViewsPort(Protocol):
    """What crawlers see of hosts."""

    def put_many(self, views: Iterable[View]) -> None: ...
    def of(self, hosts: Sequence[str]) -> dict[str, dict[str, View]]: ...
    def prune(self, before_s: float) -> int: ...
    def forget(self, host: str) -> bool: ...


class SiteAnswersPort(Protocol):
    """Answers for sites that crawlers see at different addresses."""

    def put_many(self, answers: Iterable[SiteAnswer]) -> None: ...
    def of(self, hosts: Sequence[str]) -> dict[str, SiteAnswer]: ...
    def get(self, host: str) -> SiteAnswer | None: ...
    def forget(self, host: str) -> bool: ...


class BudgetPort(Protocol):
    """Orders and what they cost; one order costs one probe."""

    def open(self, name: str, total: int | None) -> BudgetState: ...
    def reserve(self, name: str, orders: Sequence[OrderRecord], at_s: float) -> int: ...
    def answer(self, ids: Iterable[str], at_s: float) -> None: ...
    def release(self, name: str, ids: Iterable[str]) -> int: ...
    def unanswered(self, name: str) -> list[OrderRecord]: ...
    def answered_among(self, ids: Sequence[str]) -> set[str]: ...
    def answered(self, name: str) -> list[OrderRecord]: ...
    def recent(self, since_s: float) -> list[OrderRecord]: ...
    def state(self, name: str) -> BudgetState: ...


class DelegationsPort(Protocol):
    """Who holds which subnet, and who held it before."""

    def put_many(self, records: Iterable[DelegationRecord]) -> None: ...
    def put_answered(self, tables: Iterable[AnsweredMany], explained: int) -> None: ...
    def renew_many(self, renewed: Iterable[Delegation]) -> None: ...
    def end_many(self, ended: Iterable[tuple[Bounds, str]], at_s: float) -> None: ...
    def get(self, first: Address, last: Address) -> DelegationRecord | None: ...
    def at(self, addresses: Sequence[Address]) -> list[DelegationRecord]: ...
    def decided_for(self, addresses: Sequence[Address]) -> list[DelegationRecord]: ...
    def all(self, *, is_wide: bool = False) -> Iterator[DelegationRecord]: ...
    def history(self, first: Address, last: Address) -> list[EndedDelegation]: ...
    def ended(self, count: int) -> list[EndedDelegation]: ...
    def count(self) -> int: ...
    def probes(self) -> tuple[int, int]: ...


class BatchesPort(Protocol):
    """Commands that were begun."""

    def begin(self, key: str, words: str, at_s: float) -> BatchRecord: ...
    def end(self, number: int, at_s: float) -> None: ...
    def reopen(self, number: int, ended_s: float) -> None: ...
    def all(self) -> list[BatchRecord]: ...


class ResultsPort(Protocol):
    """The result of each site of a batch."""

    def add_many(self, batch: int, results: Iterable[Decision]) -> None: ...
    def add_answered(self, batch: int, tables: Iterable[AnsweredMany]) -> None: ...
    def of(self, batch: int, hosts: Sequence[str]) -> dict[str, Decision]: ...
    def all(self, batch: int) -> Iterator[Decision]: ...
    def after(self, batch: int, mark: int, count: int) -> tuple[int, list[Decision]]: ...
    def latest(self, host: str) -> Decision | None: ...
    def latest_many(self, hosts: Sequence[str]) -> dict[str, Decision]: ...
    def mark(self) -> tuple[int, int, int]: ...
    def resting_on(self, bounds: Iterable[Bounds]) -> list[Decision]: ...
    def forget(self, hosts: Iterable[str], bounds: Iterable[Bounds]) -> int: ...
    def count(self, batch: int) -> int: ...


class TrackRecordsPort(Protocol):
    """How far crawlers can be believed."""

    def put_many(self, records: Iterable[tuple[str, TrackRecord]]) -> None: ...
    def all(self) -> dict[str, TrackRecord]: ...
    def reject_many(self, samples: Iterable[ImplausibleSample]) -> None: ...
    def rejected(self) -> list[ImplausibleSample]: ...


class GraftsPort(Protocol):
    """Registrations that were asked for one by one."""

    def put(self, graft: Graft) -> None: ...
    def all(self) -> list[Graft]: ...


class PiecesPort(Protocol[T]):
    """Records of sites or pieces of sites, by host; new ones of a host replace all its old ones."""

    def put_many(self, records: Iterable[T], /) -> None: ...
    def all(self) -> list[T]: ...
    def of(self, host: str) -> list[T]: ...
    def of_many(self, hosts: Sequence[str]) -> dict[str, list[T]]: ...
    def forget(self, hosts: Iterable[str]) -> int: ...


class AssignmentsPort(PiecesPort[Assignment], Protocol):
    """Who crawls which site, and what changed since when."""

    def of_crawler(self, crawler: str | None) -> list[Assignment]: ...
    def loads(self) -> FleetLoads: ...
    def at(self, address: Address, count: int) -> list[Assignment]: ...
    def after(self, host: str, count: int, crawler: str | None = None) -> list[Assignment]: ...
    def changes(self, since: int, count: int, crawler: str | None = None) -> list[AssignmentChange]: ...
    def last_change(self) -> int: ...


class RecrawlsPort(PiecesPort[Recrawl], Protocol):
    """When sites were crawled and are due."""

    def due(self, now_s: float) -> list[Recrawl]: ...


class SubnetTripsPort(Protocol):
    """The last round trips of subnets."""

    def put_many(self, trips: Iterable[SubnetTrips]) -> None: ...
    def of(self, subnets: Sequence[Bounds]) -> list[SubnetTrips]: ...
    def newest(self, count: int) -> list[SubnetTrips]: ...
    def clear(self) -> None: ...


class StatesPort(Protocol):
    """Saved states of coordinates and overlays."""

    def get(self, name: str) -> bytes | None: ...
    def put(self, name: str, data: bytes, at_s: float) -> None: ...
    def forget(self, name: str) -> bool: ...


class TokensPort(Protocol):
    """Who may come in."""

    def add(self, token: TokenRecord) -> None: ...
    def all(self) -> list[TokenRecord]: ...
    def find(self, token_hash: bytes) -> TokenRecord | None: ...
    def revoke(self, hashes: Iterable[bytes], at_s: float) -> int: ...
    def use_many(self, used: Iterable[tuple[bytes, float]]) -> None: ...
    def mark(self) -> tuple[int, int, float]: ...


class AgentsPort(Protocol):
    """Agents that call out."""

    def put(self, agent: AgentRecord) -> None: ...
    def get(self, crawler: str) -> AgentRecord | None: ...
    def all(self) -> list[AgentRecord]: ...
    def saw_many(self, seen: Iterable[tuple[str, float]]) -> None: ...
    def forget(self, crawler: str) -> bool: ...


class StorePort(Protocol):
    """All of it."""

    meta: MetaPort
    crawlers: CrawlersPort
    sites: SitesPort
    samples: SamplesPort
    names: NamesPort
    views: ViewsPort
    site_answers: SiteAnswersPort
    budget: BudgetPort
    delegations: DelegationsPort
    batches: BatchesPort
    results: ResultsPort
    track_records: TrackRecordsPort
    grafts: GraftsPort
    assignments: AssignmentsPort
    states: StatesPort
    recrawls: RecrawlsPort
    subnet_trips: SubnetTripsPort
    tokens: TokensPort
    agents: AgentsPort

    transaction: Callable[[], AbstractContextManager[None]]
    """Do all or nothing; inside another transaction, be part of that."""

    def repeated(self, work: Callable[[], T]) -> T: ...
    def close(self) -> None: ...
