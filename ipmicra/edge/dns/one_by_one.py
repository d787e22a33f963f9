"""Single host names, each asked for once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipmicra.errors import InputError
from ipmicra.model.address import Address

if TYPE_CHECKING:
    from ipmicra.edge.dns.client import DnsConfig
    from ipmicra.edge.store.ports import NameAnswer

REASONS = {
    "nxdomain": "there is no such host name",
    "no-address": "the host name has no address",
    "servfail": "the host name cannot be resolved: the server failed (SERVFAIL)",
    "refused": "the host name cannot be resolved: the server refused",
    "timeout": "the host name cannot be resolved: no server answered in time",
    "bad-name": "this is not a name that can be resolved",
}
"""What is told when there is no address, by `NameStatus`."""


class Resolver:
    """Resolves host names, each once."""

    def __init__(self, config: DnsConfig | None = None) -> None:
        """Ask by the given settings, by default the system's servers; they are read at the first question."""
        self._config = config
        self._known: dict[str, list[Address]] = {}

    def addresses_of(self, name: str) -> list[Address]:
        """Give the addresses of a host name, IPv4 first."""
        if name not in self._known:
            import asyncio  # loaded where a name is asked for: addresses need no DNS

            self._known[name] = asyncio.run(self._ask(name))
        return self._known[name]

    async def _ask(self, name: str) -> list[Address]:
        from ipmicra.edge.dns.client import DnsClient

        async with DnsClient(self._config) as client:
            return addresses_in(await client.ask(name, families=(4, 6)))


def addresses_in(answer: NameAnswer) -> list[Address]:
    """Give the addresses of an answer; an answer without any is an error that says why."""
    if not answer.addresses:
        raise InputError(REASONS[answer.status.value])
    return list(answer.addresses)
