"""Names of hosts while crawling: a file of them instead of the DNS, and the address block of each host."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer

from ipmicra.delegate.subnets import slice_bounds, slice_of
from ipmicra.edge.files.seeds import host_of
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import Address, range_text, read_address

HOSTS = "CRAWL_HOSTS"
"""Setting: addresses by host."""


def read_hosts(path: Path) -> dict[str, Address]:
    """Read a file like /etc/hosts: an address and its names on each line."""
    found: dict[str, Address] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            address = read_address(words[0])
        except AddressError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
        found |= dict.fromkeys(map(host_of, words[1:]), address)
    return found


def block_of(address: Address) -> str:
    """Return the block whose sites share polite delays: 256 addresses, or a /48."""
    return range_text(*slice_bounds(slice_of(address)))


class HostsResolver(CachingThreadedResolver):
    """Asks the hosts of the settings first, then the DNS."""

    hosts: Mapping[str, Address]

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> HostsResolver:  # noqa: ANN401 - Scrapy's own types are loose
        """Make the resolver of a Scrapy crawler."""
        resolver = super().from_crawler(crawler, reactor)
        resolver.hosts = crawler.settings[HOSTS]
        return resolver

    def getHostByName(self, name: str, timeout: Any = ()) -> Any:  # noqa: ANN401, N802 - Twisted's name
        """Return the address of a host."""
        address = self.hosts.get(name)
        return defer.succeed(str(address)) if address else super().getHostByName(name, timeout)


class Blocks:
    """Address blocks of hosts, each looked up once."""

    def __init__(self, hosts: Mapping[str, Address]) -> None:
        """Know some hosts beforehand."""
        self.known = {host: block_of(address) for host, address in hosts.items()}
        self._asking: dict[str, asyncio.Future[None]] = {}

    async def block(self, host: str) -> str:
        """Return the block of a host; the host itself if the DNS does not know it."""
        if host not in self.known:
            if host not in self._asking:
                self._asking[host] = asyncio.ensure_future(self._ask(host))
            await self._asking[host]
        return self.known[host]

    async def _ask(self, host: str) -> None:
        self.known[host] = host
        with suppress(ValueError):
            self.known[host] = block_of(ip_address(host))
            return
        with suppress(OSError):
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
            self.known[host] = block_of(ip_address(found[0][4][0]))
