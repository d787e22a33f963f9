"""Seeds to sites: the one way from what a user names to a host with the address that is probed and crawled.

Theory of operation
-------------------
Seeds come by the million, names take anything from a millisecond to several seconds, and results leave in
the order in which seeds came. `BulkResolver.resolve` therefore keeps a queue of seeds, each with the task
that asks for its name (or none, if the address is known), and hands over from its head:

- Seeds are taken in parts of `cached_at_once`. Each part is first looked for among the *pins* (the address
  that a host was given once and keeps, so that all its samples and delegations speak of one machine), then
  in the *cache* of DNS answers, and only then asked for.
- A name has at most one task at a time, however often it comes.
- The queue has at most `window` entries. A slow name at its head holds up what is handed over, not what is
  asked: up to `window` names are under way behind it.
- A site is pinned before it is handed over. A crash in between may ask for a name again, but no answer ever
  rests on an address that the next run does not know.

Why not one task per seed and `asyncio.gather`? A million tasks are a gigabyte, and nothing would leave
before the slowest name. Why not in the order of arrival? Results would differ from run to run.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.dns.one_by_one import reason_of
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed, plain_address
from ipmicra.edge.store.ports import NamesPort, SitesPort, StorePort
from ipmicra.model.address import Address
from ipmicra.model.name import NameAnswer
from ipmicra.model.site import Site

NO_SITE = "a prefix or range is no site"
Found = Site | UnresolvedSeed
"""What a seed turns out to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkConfig:
    """How much is held in memory while seeds stream through."""

    window: int = 5_000
    """Seeds whose results are awaited at a time, so that a slow name does not hold up the quick ones."""
    cached_at_once: int = 500
    """Names that are looked for in the cache, and answers that are kept, at a time."""


class Asking(Protocol):
    """Whoever asks the DNS."""

    async def ask(self, name: str) -> NameAnswer:
        """Return the addresses of a name."""
        ...


class NamesOnDemand:
    """Asks the DNS; its sockets are opened with the first name, for addresses need none."""

    def __init__(self, config: DnsConfig, stack: AsyncExitStack) -> None:
        """Close with a stack."""
        self._config, self._stack = config, stack
        self._client: DnsClient | None = None
        self._lock = asyncio.Lock()

    async def ask(self, name: str) -> NameAnswer:
        """Return the addresses of a name."""
        async with self._lock:
            if self._client is None:
                self._client = await self._stack.enter_async_context(DnsClient(self._config))
        return await self._client.ask(name)


@dataclass(slots=True)
class _Waiting:
    """A name on its way."""

    seed: Seed
    task: asyncio.Task[NameAnswer]


@dataclass(slots=True)
class BulkResolver:
    """Resolves seeds; each name is asked for once as long as its answer holds."""

    client: Asking
    cache: NamesPort | None = None
    pins: SitesPort | None = None
    """Where hosts keep the address they were given; None for addresses as the DNS has them now."""
    config: BulkConfig = field(default_factory=BulkConfig)
    clock: Callable[[], float] = time.time
    is_pinning: bool = True
    """Whether new hosts are pinned."""
    _asking: dict[str, asyncio.Task[NameAnswer]] = field(default_factory=dict, init=False)
    _fresh: dict[str, NameAnswer] = field(default_factory=dict, init=False)
    """Answers that are not in the cache yet."""

    async def resolve(self, texts: Iterable[str]) -> AsyncIterator[Site | UnresolvedSeed]:
        """Return a site or a reason for each text, in order."""
        async for part in self.resolve_parts(texts):
            for found in part:
                yield found

    async def resolve_parts(self, texts: Iterable[str]) -> AsyncIterator[list[Found]]:
        """Return the same, as many at a time as are ready."""
        waiting: deque[Found | _Waiting] = deque()
        try:
            for part in in_parts(texts, self.config.cached_at_once):
                waiting.extend(self._begin(part))
                yield await self._ready(waiting, self.config.window)
            while waiting:
                yield await self._ready(waiting, len(waiting) - 1)
        finally:
            for one in waiting:
                if isinstance(one, _Waiting):
                    one.task.cancel()
            self._keep(0)

    def _begin(self, texts: list[str]) -> Iterator[Found | _Waiting]:
        """Start asking for the names that neither a pin, the cache nor a question under way answers."""
        words = [text.strip() for text in texts]
        plain = [plain_address(word) for word in words]
        seeds = [
            Site(word, address) if address is not None else parse_seed(word)
            for word, address in zip(words, plain, strict=True)
        ]
        names = {seed.host for seed in seeds if isinstance(seed, Seed) and seed.first is None}
        pinned = {name: pin.address for name in names if self.pins and (pin := self.pins.get(name))}
        names -= pinned.keys()
        new = names - self._asking.keys()
        known = self.cache.get_many(new, self.clock()) if self.cache and new else {}
        for seed in seeds:
            if isinstance(seed, Site | UnresolvedSeed):
                yield seed
            elif seed.is_range:
                yield UnresolvedSeed(text=seed.text, reason=NO_SITE)
            elif seed.host in names:
                task = self._asking.get(seed.host) or self._start(
                    seed.host, known.get(seed.host) or self._fresh.get(seed.host)
                )
                yield _Waiting(seed, task)
            else:
                yield _site_of(seed, seed.address or pinned[seed.host])

    def _start(self, name: str, known: NameAnswer | None) -> asyncio.Task[NameAnswer]:
        async def answer() -> NameAnswer:
            if known is not None:
                return known
            found = await self.client.ask(name)
            self._fresh[name] = found
            return found

        self._asking[name] = asyncio.get_running_loop().create_task(answer())
        return self._asking[name]

    async def _ready(self, waiting: deque[Found | _Waiting], most: int) -> list[Found]:
        """Take what is ready from the head of the queue, and wait until no more than `most` are left."""
        found: list[Found] = []
        fresh: list[Site] = []
        while waiting:
            one = waiting[0]
            if not isinstance(one, _Waiting):
                found.append(one)
            elif len(waiting) > most or one.task.done():
                result = await self._end(one)
                found.append(result)
                if isinstance(result, Site):
                    fresh.append(result)
            else:
                break
            waiting.popleft()
        if self.pins is not None and self.is_pinning and fresh:
            self.pins.put_many(fresh, self.clock())
        return found

    async def _end(self, one: _Waiting) -> Found:
        answer, seed = await one.task, one.seed
        self._asking.pop(seed.host, None)
        self._keep(self.config.cached_at_once)
        if not answer.addresses:
            return UnresolvedSeed(text=seed.text, reason=reason_of(answer, seed.text))
        return _site_of(seed, answer.addresses[0])

    def _keep(self, over: int) -> None:
        """Write fresh answers into the cache once there are enough of them."""
        if self.cache is not None and len(self._fresh) > over:
            now_s = self.clock()
            self.cache.put_many(answer for answer in self._fresh.values() if answer.expires_s > now_s)
        if len(self._fresh) > over:
            self._fresh.clear()


def _site_of(seed: Seed, address: Address) -> Site:
    return Site(host=seed.host, address=address, scheme=seed.scheme, port=seed.port)


def in_parts(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Cut texts into lists of a size; the last one may be shorter."""
    source = iter(texts)
    return iter(lambda: list(islice(source, size)), [])


async def resolve_seeds(
    texts: Iterable[str],
    store: StorePort,
    dns: DnsConfig,
    *,
    is_pinning: bool = True,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Site | UnresolvedSeed]:
    """Return the site of each seed, or why it has none, in order: by its pin, its address, or the DNS."""
    async with AsyncExitStack() as stack:
        client = NamesOnDemand(dns, stack)
        resolver = BulkResolver(client, store.names, store.sites, clock=clock, is_pinning=is_pinning)
        async for found in resolver.resolve(texts):
            yield found


def find_sites(
    texts: Iterable[str], store: StorePort, dns: DnsConfig, *, is_pinning: bool = True
) -> tuple[list[Site], list[UnresolvedSeed]]:
    """Return the sites of seeds, and the seeds that have none."""

    async def find() -> list[Site | UnresolvedSeed]:
        return [one async for one in resolve_seeds(texts, store, dns, is_pinning=is_pinning)]

    found = asyncio.run(find())
    return (
        [one for one in found if isinstance(one, Site)],
        [one for one in found if isinstance(one, UnresolvedSeed)],
    )


def grouped(sites: Iterable[Site]) -> dict[Address, list[Site]]:
    """Put sites that share an address together: they are probed once."""
    groups: dict[Address, list[Site]] = {}
    for site in sites:
        groups.setdefault(site.address, []).append(site)
    return groups
