"""Seeds looked up one by one, with all their addresses; each name is asked for once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed
from ipmicra.errors import InputError
from ipmicra.model.address import Address

if TYPE_CHECKING:
    from ipmicra.edge.dns.client import DnsConfig
    from ipmicra.model.name import NameAnswer

REASONS = {
    "nxdomain": "there is no such host name",
    "no-address": "the host name has no address",
    "servfail": "the host name cannot be resolved: the server failed (SERVFAIL)",
    "refused": "the host name cannot be resolved: the server refused",
    "timeout": "the host name cannot be resolved: no server answered in time",
    "bad-name": "this is not a name that can be resolved",
    "forbidden": "the host name has no address that may be probed",
    "busy": "the host name cannot be resolved: the agent resolves no more names for now",
}
"""Why there is no address, by `NameStatus`."""


def reason_of(answer: NameAnswer, text: str) -> str:
    """Say why a seed has no address; one that could be a path may be a mistyped file."""
    is_like_path = "/" in text and "://" not in text
    return REASONS[answer.status.value] + (", nor a file of this name" if is_like_path else "")


class Resolver:
    """Resolves host names, each once."""

    def __init__(self, config: DnsConfig | None = None) -> None:
        """Ask by the given settings, by default the system's servers; they are read at the first question."""
        self._config = config
        self._known: dict[str, list[Address]] = {}

    def addresses_of(self, name: str) -> list[Address]:
        """Return the addresses of a host name, IPv4 first."""
        if name not in self._known:
            import asyncio  # loaded where a name is asked for: addresses need no DNS

            self._known[name] = asyncio.run(self._ask(name))
        return self._known[name]

    def resolve(self, texts: Iterable[str]) -> Iterator[Seed | UnresolvedSeed]:
        """Return each seed with its address or range, a host name once for each of its addresses."""
        for text in texts:
            seed = parse_seed(text)
            if isinstance(seed, UnresolvedSeed) or seed.first is not None:
                yield seed
                continue
            try:
                yield from [seed.at(address) for address in self.addresses_of(seed.host)]
            except InputError as error:
                yield UnresolvedSeed(text=seed.text, reason=str(error))

    async def _ask(self, name: str) -> list[Address]:
        from ipmicra.edge.dns.client import DnsClient

        async with DnsClient(self._config) as client:
            answer = await client.ask(name, families=(4, 6))
        if not answer.addresses:
            raise InputError(REASONS[answer.status.value])
        return list(answer.addresses)
