"""Where URLs go: routes by host, kept and renewed.

Theory of operation
-------------------
A route is the queue of an owner: its crawler and the block. Written as the bytes of the fields that it sets,
it is added to a message in one call, because in protobuf what comes last counts. A site with several vantages
has a route for each; one that is cut into pieces has one for each piece, chosen by the directory of the URL.

Routes are kept by host, and once more by what stands before the path of URLs: so one that was seen before
costs one look-up. A route that is old is used as it is and asked for again beside; a host that is not known
is asked for, in batches, and whoever needs it is called when the answer is there.

    URL ───── kept, fresh ──▶ route
       ├───── kept, old ────▶ route, and ask again
       └───── unknown ──────▶ ask; `when_known` is called later
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from ipmicra.edge.files.seeds import UnresolvedSeed, parse_seed
from ipmicra.edge.frontier.messages import URLInfo
from ipmicra.edge.log import EventLog
from ipmicra.errors import IpmicraError

events = EventLog("frontier")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesConfig:
    """How much is kept and asked."""

    kept: int = 2_000_000
    """Hosts; about 0.3 kB each."""
    fresh_s: float = 300.0
    """After this a route is asked for again."""
    batch: int = 5_000
    """Hosts of one question."""
    gather_s: float = 0.01
    """How long hosts are gathered for a question."""
    questions: int = 4
    """Under way at a time."""
    pause_s: float = 1.0
    """Until a host that could not be decided for the moment is asked for again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedPart:
    """What one crawler has of a host, as the coordinator answers."""

    crawler: str
    key: str
    """The queue: the block whose hosts share polite delays."""
    subnet: str
    vantage: str = ""
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer for one host: who has it; nobody, for good; or not yet."""

    host: str
    parts: tuple[OwnedPart, ...] = ()
    is_final: bool = True
    """False if it is worth asking again."""
    reason: str = ""


class OwnerAsker(Protocol):
    """Asks a coordinator."""

    def ask(self, hosts: Sequence[str]) -> AsyncIterator[Verdict]:
        """Return a verdict for each host, as they come."""
        ...


class Route:
    """The queues of a host."""

    __slots__ = ("_pieces", "direct", "expires_s", "is_several", "key")

    def __init__(self, verdict: Verdict, expires_s: float) -> None:
        """Write the fields that it sets."""
        self._pieces = [(one, suffix_of(one)) for one in verdict.parts]
        vantages = {one.vantage for one in verdict.parts}
        self.is_several = len(vantages) > 1
        """Whether a URL goes to several queues."""
        is_plain = len(self._pieces) == 1
        self.direct: bytes | None = self._pieces[0][1] if is_plain else None
        """The fields, if they are the same for all URLs."""
        self.key = verdict.parts[0].key if verdict.parts else ""
        self.expires_s = expires_s

    def suffixes(self, url: str) -> list[bytes]:
        """Return the fields that a URL gets, for each queue it goes to."""
        directory = _directory(url)
        found: dict[str, bytes] = {}
        for part, suffix in self._pieces:
            if part.vantage not in found and _admits(part.filters, directory):
                found[part.vantage] = suffix
        return list(found.values())


def suffix_of(part: OwnedPart) -> bytes:
    """Return the fields of a queue: appended to a message, they replace what it had."""
    info = URLInfo(key=part.key, crawlID=part.crawler)
    known = {"ip": part.key, "subnet": part.subnet, "crawler": part.crawler, "vantage": part.vantage}
    for name, value in known.items():
        if value:
            info.metadata[name].values.append(value)
    data: bytes = info.SerializeToString()
    return data


def _admits(filters: tuple[str, ...], directory: str) -> bool:
    from ipmicra.model.link import Share

    return Share(crawler="", slot="", filters=filters).admits(directory)


def _directory(url: str) -> str:
    path = url.split("/", 3)[3:]
    first, slash, _ = path[0].partition("?")[0].partition("/") if path else ("", "", "")
    return f"/{first}/" if slash else "/"


def netloc_of(url: str) -> str:
    """Return what stands between the slashes of a URL; empty if it is none."""
    parts = url.split("/", 3)
    return parts[2] if len(parts) > 2 and parts[1] == "" else ""  # noqa: PLR2004 - scheme, nothing, netloc


def start_of(url: str) -> str:
    """Return what stands before the path of a URL, as it is: `http://a.example:8080`."""
    return url[: url.find("/", 8)]


class Routes:
    """Routes of URLs."""

    def __init__(
        self, asker: OwnerAsker, clock: Callable[[], float], config: RoutesConfig | None = None
    ) -> None:
        """Know nothing yet."""
        self._asker, self._clock, self.config = asker, clock, config or RoutesConfig()
        self.direct: dict[str, bytes] = {}
        """Fields that URLs get, by what stands before their path: what most look-ups find."""
        self._direct_s = clock()
        self._by_host: dict[str, Route] = {}
        self._wanted: dict[str, None] = {}
        self._asked: set[str] = set()
        self._waiting: dict[str, list[Callable[[Route], object]]] = {}
        self._call = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(self.config.questions)
        self.trouble = ""
        """Why the coordinator did not answer, if it did not."""

    def find(self, url: str) -> Route | None:
        """Return the route of a URL; None if it has to be waited for."""
        netloc = netloc_of(url)
        host = host_of_netloc(netloc)
        if host is None:
            return NOWHERE
        kept = self._by_host.get(host)
        if kept is None:
            self._want(host)
            return None
        if kept.expires_s < self._clock():
            self._want(host)
        elif kept.direct is not None:
            self.direct[url[: url.find(netloc) + len(netloc)]] = kept.direct
        return kept

    def tidy(self) -> None:
        """Let old routes be asked for again, and keep no more than there is room for."""
        if self._clock() - self._direct_s > self.config.fresh_s or len(self.direct) > self.config.kept:
            self.direct.clear()
            self._direct_s = self._clock()

    def when_known(self, url: str, call: Callable[[Route], object]) -> None:
        """Call when the route of a URL is there; at once if it is."""
        found = self.find(url)
        if found is not None:
            call(found)
        else:
            self._waiting.setdefault(host_of_netloc(netloc_of(url)) or "", []).append(call)

    @property
    def waiting(self) -> int:
        """How many hosts are not known yet."""
        return len(self._waiting)

    def _want(self, host: str) -> None:
        if host not in self._asked:
            self._wanted[host] = None
            self._call.set()

    async def run(self) -> None:
        """Ask, until cancelled."""
        try:
            while True:
                await self._call.wait()
                if len(self._wanted) < self.config.batch:
                    await asyncio.sleep(self.config.gather_s)
                await self._slots.acquire()
                hosts = list(self._wanted)[: self.config.batch]
                for host in hosts:
                    del self._wanted[host]
                self._asked.update(hosts)
                if not self._wanted:
                    self._call.clear()
                task = asyncio.create_task(self._ask(hosts))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _ask(self, hosts: list[str]) -> None:
        left = set(hosts)
        try:
            async for one in self._asker.ask(hosts):
                if one.is_final:
                    left.discard(one.host)
                    self._learn(one)
            self.trouble = ""
        except (IpmicraError, OSError) as error:
            self.trouble = str(error)
            events.warning("no_answer", "{error}", error=str(error)[:300])
        finally:
            self._slots.release()
            self._asked.difference_update(hosts)
        if left:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(self.config.pause_s)
            for host in left:
                self._want(host)

    def _learn(self, verdict: Verdict) -> None:
        route = Route(verdict, self._clock() + self.config.fresh_s)
        if len(self._by_host) >= self.config.kept:
            self._by_host.clear()
        before = self._by_host.get(verdict.host)
        if before is not None and before.direct != route.direct:
            self.direct.clear()  # the host has changed hands
        self._by_host[verdict.host] = route
        for call in self._waiting.pop(verdict.host, ()):
            call(route)


NOWHERE = Route(Verdict(host="", reason="no URL of a host"), float("inf"))
"""The route of what is no host."""


def host_of_netloc(netloc: str) -> str | None:
    """Return the host of what stands between the slashes of a URL; None if it is none."""
    seed = parse_seed(f"http://{netloc}/") if netloc else UnresolvedSeed(text="", reason="")
    return None if isinstance(seed, UnresolvedSeed) else seed.host
