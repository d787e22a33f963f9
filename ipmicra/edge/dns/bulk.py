"""Seeds by the million to sites: streamed, bounded, cached, in the order in which they came."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from ipmicra.edge.store.ports import NameAnswer, NamesPort, NameStatus
from ipmicra.errors import AddressError
from ipmicra.model.address import Address, read_address
from ipmicra.model.site import Site

_SCHEMES = {"http", "https"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """What a user wants crawled: a host, a URL or an address, taken apart."""

    text: str
    host: str
    address: Address | None = None
    scheme: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedSeed:
    """A seed without an address, and why."""

    text: str
    status: NameStatus


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
        """Give the addresses of a name."""
        ...


@dataclass(slots=True)
class BulkResolver:
    """Resolves seeds; each name is asked for once as long as its answer holds."""

    client: Asking
    cache: NamesPort | None = None
    config: BulkConfig = field(default_factory=BulkConfig)
    clock: Callable[[], float] = time.time
    counts: Counter[NameStatus] = field(default_factory=Counter)
    """Seeds by what became of them."""
    _asking: dict[str, asyncio.Task[NameAnswer]] = field(default_factory=dict, init=False)
    _fresh: dict[str, NameAnswer] = field(default_factory=dict, init=False)
    """Answers that are not in the cache yet."""

    async def resolve(self, texts: Iterable[str]) -> AsyncIterator[Site | UnresolvedSeed]:
        """Give a site or a reason for each text, in order."""
        waiting: deque[tuple[Seed | UnresolvedSeed, asyncio.Task[NameAnswer] | None]] = deque()
        try:
            for part in _parts(texts, self.config.cached_at_once):
                waiting.extend(self._begin(part))
                while waiting and (len(waiting) > self.config.window or _is_ready(waiting[0])):
                    yield await self._end(*waiting.popleft())
            while waiting:
                yield await self._end(*waiting.popleft())
        finally:
            for _, task in waiting:
                if task is not None:
                    task.cancel()
            self._keep(0)

    def _begin(
        self, texts: list[str]
    ) -> Iterable[tuple[Seed | UnresolvedSeed, asyncio.Task[NameAnswer] | None]]:
        """Start asking for the names that neither the cache nor a question under way answers."""
        seeds = [read_seed(text) for text in texts]
        names = {seed.host for seed in seeds if isinstance(seed, Seed) and seed.address is None}
        known = self.cache.get_many(names - self._asking.keys(), self.clock()) if self.cache else {}
        for seed in seeds:
            task = None
            if isinstance(seed, Seed) and seed.address is None:
                task = self._asking.get(seed.host) or self._start(
                    seed.host, known.get(seed.host) or self._fresh.get(seed.host)
                )
            yield seed, task

    def _start(self, name: str, known: NameAnswer | None) -> asyncio.Task[NameAnswer]:
        async def answer() -> NameAnswer:
            if known is not None:
                return known
            found = await self.client.ask(name)
            self._fresh[name] = found
            return found

        self._asking[name] = asyncio.get_running_loop().create_task(answer())
        return self._asking[name]

    async def _end(
        self, seed: Seed | UnresolvedSeed, task: asyncio.Task[NameAnswer] | None
    ) -> Site | UnresolvedSeed:
        if isinstance(seed, UnresolvedSeed):
            self.counts[seed.status] += 1
            return seed
        address = seed.address
        if task is not None:
            answer = await task
            self._asking.pop(seed.host, None)
            self._keep(self.config.cached_at_once)
            if not answer.addresses:
                self.counts[answer.status] += 1
                return UnresolvedSeed(text=seed.text, status=answer.status)
            address = answer.addresses[0]
        self.counts[NameStatus.FOUND] += 1
        return Site(host=seed.host, address=address, scheme=seed.scheme, port=seed.port)  # type: ignore[arg-type]

    def _keep(self, over: int) -> None:
        """Write fresh answers into the cache once there are enough of them."""
        if self.cache is not None and len(self._fresh) > over:
            now_s = self.clock()
            self.cache.put_many(answer for answer in self._fresh.values() if answer.expires_s > now_s)
        if len(self._fresh) > over:
            self._fresh.clear()


def _is_ready(entry: tuple[Seed | UnresolvedSeed, asyncio.Task[NameAnswer] | None]) -> bool:
    return entry[1] is None or entry[1].done()


def _parts(texts: Iterable[str], size: int) -> Iterable[list[str]]:
    part: list[str] = []
    for text in texts:
        part.append(text)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def read_seed(text: str) -> Seed | UnresolvedSeed:
    """Take a seed apart: `https://a.example:8443/x`, `a.example`, `192.0.2.1`, `[2001:db8::1]`."""
    bad = UnresolvedSeed(text=text, status=NameStatus.BAD_NAME)
    word = text.strip()
    plain = _plain_address(word)
    if plain is not None:
        return Seed(text=text, host=str(plain), address=plain, scheme=None, port=None)
    try:
        parts = urlsplit(word if "://" in word else f"//{_bracketed(word)}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return bad
    scheme = parts.scheme.lower() or None
    if scheme not in {None, *_SCHEMES} or not _is_host(host):
        return bad
    try:
        address = read_address(host)
    except AddressError:
        address = None
    return Seed(text=text, host=str(address or host), address=address, scheme=scheme, port=port)


def _plain_address(word: str) -> Address | None:
    """Read a bare IPv4 address, as most of the longest lists have them; the long way reads them the same."""
    if not word[:1].isdigit() or not word[-1:].isdigit() or ":" in word:
        return None
    try:
        return read_address(word)
    except AddressError:
        return None


def _bracketed(word: str) -> str:
    """Put a bare IPv6 address into brackets, as URLs want it."""
    try:
        return f"[{word}]" if ip_address(word).version == 6 else word  # noqa: PLR2004 - IPv6
    except ValueError:
        return word


def _is_host(host: str) -> bool:
    """Tell whether a text can be a host: no spaces, and if the last label is all digits, an address."""
    if not 0 < len(host) <= 253 or any(letter.isspace() or letter in "/\\@%" for letter in host):  # noqa: PLR2004
        return False
    if host.rsplit(".", 1)[-1].isdigit():
        try:
            ip_address(host)
        except ValueError:
            return False
    return True


def grouped(sites: Iterable[Site]) -> dict[Address, list[Site]]:
    """Put sites that share an address together: they are probed once."""
    groups: dict[Address, list[Site]] = {}
    for site in sites:
        groups.setdefault(site.address, []).append(site)
    return groups
