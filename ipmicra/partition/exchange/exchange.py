"""Links that belong to other crawlers: events in, actions out.

A crawler reports the links it found; the component answers which to crawl and which batches to send. It
neither sends nor waits: its caller does, and reports what became of each batch. A batch that could not be
delivered is kept, and sent again at the first tick after a pause.

Where a crawl has a ledger (a coordinator that knows every link and decides who fetches it), the ledger is the
one receiver, and hears of finished links too, in the order in which things happened. What waits can be kept
on disk (`is_durable`): each entry is in a `Keep` before it is in a `Send`, and comes back by `Restored`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from ipmicra.model.link import Link
from ipmicra.partition.exchange.visited import Fingerprints, VisitedSet


class Mode(StrEnum):
    """What is done with links that belong to another crawler [2], [6]."""

    DROP = "drop"
    """Left out (firewall): nothing is sent, pages are missed."""
    CROSS_OVER = "cross-over"
    """Kept, and crawled here when own links have run out: nothing is sent, pages are fetched twice."""
    EXCHANGE = "exchange"
    """Sent to the crawler they belong to, in batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeConfig:
    """Tuning of the exchange; numbers of [2]."""

    mode: Mode = Mode.EXCHANGE
    batch_urls: int = 500
    """SEND_LIST_MAX: a batch of this size is sent immediately."""
    check_every_s: float = 0.1
    """How often the caller should tick."""
    flush_after_s: float = 0.1
    """A link waits no longer than this for its batch to fill; one interval of the check."""
    retry_after_s: float = 30.0
    """Pause before a batch is sent again to a receiver that was down. Ours."""
    is_durable: bool = False
    """Whether the caller keeps what waits on disk, and so wants to hear of it in a `Keep`. Ours."""
    most_waiting: int = 20_000
    """Entries that may wait for all receivers together before nothing more should be crawled. Ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Event: links were found on a page that was crawled here."""

    links: Sequence[Link]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """Event: a batch came from another crawler."""

    links: Sequence[Link]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Event: links that were delivered here are fetched or given up, and all links on them were found."""

    receiver: str
    """Who delivered them."""
    entries: Sequence[int | Fetched]
    """Numbers of those that were delivered, keys of those that the crawler claimed itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Event: these entries were kept when the process ended."""

    receiver: str
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Event: time has passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Event: there is nothing left to crawl here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """Event: a batch arrived."""

    receiver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Event: a batch did not arrive."""

    receiver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """Action: crawl these links here."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Action: send a batch, then report Delivered or Failed; at most one per receiver is in flight."""

    receiver: str
    links: tuple[Link, ...]
    finished: tuple[int, ...] = ()
    fetched: tuple[int, ...] = ()
    """Keys."""

    def __len__(self) -> int:
        """Count the entries."""
        return len(self.links) + len(self.finished) + len(self.fetched)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """Action: keep these entries on disk, behind those that are there, until they are delivered."""

    receiver: str
    entries: tuple[Entry, ...]


class Fetched(NamedTuple):
    """A finished link that was crawled as soon as it was found, so that it has no number."""

    key: int


Entry: TypeAlias = Link | int | Fetched
"""What waits for a receiver: a link, or what stands for one that is finished."""
Event: TypeAlias = Found | Received | Finished | Restored | Tick | Idle | Delivered | Failed
Action: TypeAlias = Crawl | Send | Keep


@dataclass(slots=True)
class ExchangeTally:
    """What became of links."""

    own: int = 0
    """New links that belong here."""
    foreign: int = 0
    """New links that belong elsewhere."""
    repeated: int = 0
    """Links seen before, and left out."""
    dropped: int = 0
    sent: int = 0
    """Links that were delivered."""
    batches: int = 0
    """Batches that were delivered."""
    failures: int = 0


@dataclass(slots=True)
class _Outbox:
    """Links that wait for one receiver."""

    waiting: deque[Entry] = field(default_factory=deque)
    oldest_s: float = 0.0
    """When the first of the waiting links came."""
    under_way: tuple[Entry, ...] = ()
    """The batch that was sent and not reported on yet."""
    down_until_s: float = 0.0


class UrlExchange:
    """One crawler's side of the exchange."""

    def __init__(
        self,
        name: str,
        owner_of: Callable[[str], str],
        config: ExchangeConfig | None = None,
        visited: VisitedSet | None = None,
    ) -> None:
        """Exchange URLs for a crawler; `owner_of` returns the name of the crawler that owns a host."""
        self._name = name
        self._owner_of = owner_of
        self._config = config or ExchangeConfig()
        self._visited = Fingerprints() if visited is None else visited
        self._outboxes: dict[str, _Outbox] = {}
        self._reserve: list[Link] = []
        self._to_keep: dict[str, list[Entry]] = {}
        self.tally = ExchangeTally()

    def __repr__(self) -> str:
        """Show name, mode and what waits."""
        return f"<UrlExchange {self._name}: {self._config.mode}, {self.pending} links waiting>"

    @property
    def pending(self) -> int:
        """Links that have not been delivered yet."""
        return sum(len(box.waiting) + len(box.under_way) for box in self._outboxes.values())

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more should be crawled."""
        return self.pending >= self._config.most_waiting

    def knows(self, key: int) -> bool:
        """Return whether a link of this key was found before, and need not be reported again."""
        return self._visited.has_key(key)

    def note(self, key: int) -> None:
        """Note that a link of this key is known to its receiver, and need not be reported if it is found."""
        self._visited.add_key(key)

    def handle(self, event: Event, now_s: float) -> list[Action]:
        """Handle an event at a time in seconds, on any monotonic clock; return the actions to carry out."""
        match event:
            case Found(links=links):
                return self._crawl(self._sort_out(links, now_s)) + self._kept() + self._batches(now_s)
            case Received(links=links):
                return self._crawl([link for link in links if self._is_new(link)])
            case Idle():
                reserve, self._reserve = self._reserve, []
                return self._crawl(reserve)
            case Finished(receiver=receiver, entries=entries):
                self._queue(receiver, entries, now_s)
                return self._kept() + self._batches(now_s)
            case Restored(receiver=receiver, entries=entries):
                self._restore(receiver, entries, now_s)
            case Delivered(receiver=receiver):
                self._delivered(receiver)
            case Failed(receiver=receiver):
                self._failed(receiver, now_s)
            case Tick():
                pass
        return self._batches(now_s)

    def _sort_out(self, links: Iterable[Link], now_s: float) -> list[Link]:
        """Return the new links that belong here; put the others where the mode says."""
        own: list[Link] = []
        for link in links:
            if not self._is_new(link):
                continue
            owner = self._owner_of(link.host)
            if owner == self._name:
                self.tally.own += 1
                own.append(link)
            else:
                self.tally.foreign += 1
                self._put_aside(link, owner, now_s)
        return own

    def _is_new(self, link: Link) -> bool:
        is_new = self._visited.add_key(link.key) if link.key else self._visited.add(link.url)
        self.tally.repeated += not is_new
        return is_new

    def _put_aside(self, link: Link, owner: str, now_s: float) -> None:
        if self._config.mode is Mode.DROP:
            self.tally.dropped += 1
        elif self._config.mode is Mode.CROSS_OVER:
            self._reserve.append(link)
        else:
            self._queue(owner, (link,), now_s)

    def _queue(self, receiver: str, entries: Sequence[Entry], now_s: float) -> None:
        box = self._outboxes.setdefault(receiver, _Outbox())
        box.oldest_s = box.oldest_s if box.waiting else now_s
        box.waiting.extend(entries)
        if self._config.is_durable:
            self._to_keep.setdefault(receiver, []).extend(entries)

    def _restore(self, receiver: str, entries: Sequence[Entry], now_s: float) -> None:
        for entry in entries:
            if isinstance(entry, Link):
                self._is_new(entry)
        box = self._outboxes.setdefault(receiver, _Outbox())
        box.oldest_s = now_s
        box.waiting.extendleft(reversed(entries))

    def _kept(self) -> list[Action]:
        kept, self._to_keep = self._to_keep, {}
        return [Keep(receiver=receiver, entries=tuple(entries)) for receiver, entries in kept.items()]

    def _batches(self, now_s: float) -> list[Action]:
        """Send batches that are full or have waited long enough, one per receiver."""
        actions: list[Action] = []
        for receiver, box in self._outboxes.items():
            is_due = len(box.waiting) >= self._config.batch_urls or (
                box.waiting and now_s - box.oldest_s >= self._config.flush_after_s
            )
            if is_due and not box.under_way and now_s >= box.down_until_s:
                count = min(len(box.waiting), self._config.batch_urls)
                box.under_way = tuple(box.waiting.popleft() for _ in range(count))
                actions.append(
                    Send(
                        receiver=receiver,
                        links=tuple([one for one in box.under_way if isinstance(one, Link)]),
                        finished=tuple([one for one in box.under_way if isinstance(one, int)]),
                        fetched=tuple([one.key for one in box.under_way if isinstance(one, Fetched)]),
                    )
                )
        return actions

    def _delivered(self, receiver: str) -> None:
        box = self._outboxes.get(receiver)
        if box is not None and box.under_way:
            self.tally.sent += sum(isinstance(one, Link) for one in box.under_way)
            self.tally.batches += 1
            box.under_way = ()

    def _failed(self, receiver: str, now_s: float) -> None:
        """Keep the batch in front of what waits."""
        box = self._outboxes.get(receiver)
        if box is not None and box.under_way:
            self.tally.failures += 1
            box.waiting.extendleft(reversed(box.under_way))
            box.under_way = ()
            box.down_until_s = now_s + self._config.retry_after_s

    @staticmethod
    def _crawl(links: list[Link]) -> list[Action]:
        return [Crawl(links=tuple(links))] if links else []
