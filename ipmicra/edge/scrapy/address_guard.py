"""Which addresses a node may fetch from: public ones, and those that its operator named.

Pages, redirects, sitemaps and other nodes name hosts, and the DNS of strangers says where they are. None of
them may send a node into the network that it stands in. What its operator named is no stranger's word:

- prefixes (`--allow`, the same option as that of agents),
- a file of hosts: each name, at its address there,
- a seed that is itself an address or `localhost`: this host at this port. A name is no such word, for its
  owner may let it lead anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, ip_address
from socket import inet_aton

from scrapy.exceptions import IgnoreRequest

from ipmicra.edge.address_policy import AddressPolicy
from ipmicra.edge.files.seeds import host_name
from ipmicra.model.address import Address

HINT = "IPMICRA_ALLOW = ['PREFIX'] permits it"
REMEMBERED_S = 60.0
"""How long a name that led to a refused address is refused without asking again."""
MOST_REMEMBERED = 10_000
Place = tuple[str, int]
"""Host and port."""


class RefusedAddressError(IgnoreRequest):
    """A request leads to an address that is not public; nothing was sent."""

    def __init__(self, host: str, reason: str) -> None:
        """Name the host and why it is refused."""
        super().__init__(reason)
        self.host = host


class AddressGuard:
    """Decides where a node may connect to."""

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        hosts: Mapping[str, Address] | None = None,
        seeds: Iterable[Place] = (),
        hint: str = HINT,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Permit what is public, allowed prefixes, the file of hosts, and seeds that are addresses."""
        self._policy, self._hosts, self._seeds = AddressPolicy(allowed), hosts or {}, frozenset(seeds)
        self.hint = hint
        self._ticks = ticks
        self._own: set[str] = set()
        self._remembered: dict[str, tuple[str, float]] = {}

    def refusal(self, host: str, address: Address, port: int) -> str | None:
        """Return the reason not to connect to an address of a host; None if there is none."""
        reason = self._policy.refusal(address)
        if reason is None or (host, port) in self._seeds:
            return None
        return None if self._hosts.get(_plain(host)) == address else reason

    def resolved_refusal(self, host: str, address: Address, port: int) -> str | None:
        """Return the same for an address that is about to be connected to, which may be that of a proxy."""
        return None if self.trusts(host) else self.refusal(host, address, port)

    def early_refusal(self, host: str, port: int) -> str | None:
        """Return a reason that is known without asking the DNS: of an address, or of a moment ago."""
        address = read_literal(host)
        if address is not None:
            return self.refusal(host, address, port)
        if not self._remembered:
            return None
        reason, until_s = self._remembered.get(_plain(host), ("", 0.0))
        return reason if until_s > self._ticks() else None

    def trust(self, host: str) -> None:
        """Permit connections to a host that is no page's: a proxy of the operator."""
        self._own.add(_plain(host))

    def trusts(self, host: str) -> bool:
        """Return whether connections to a host are permitted wherever it is."""
        return bool(self._own) and _plain(host) in self._own

    def remember(self, host: str, reason: str | None) -> None:
        """Note that all addresses of a name were refused, or that they no longer are."""
        if reason is None:
            if self._remembered:
                self._remembered.pop(_plain(host), None)
            return
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[_plain(host)] = reason, self._ticks() + REMEMBERED_S


def read_literal(host: str) -> Address | None:
    """Read a host that is written as an address, in any spelling that a resolver takes: 127.1, 0x7f000001.

    >>> read_literal("0177.0.0.1")
    IPv4Address('127.0.0.1')
    """
    bare = host.partition("%")[0].rstrip(".")
    try:
        return ip_address(bare) if ":" in bare else IPv4Address(inet_aton(bare))
    except (OSError, ValueError):
        return None


def _plain(host: str) -> str:
    """Return a name as it is written in URLs: Twisted resolves `bücher.example`, not its A-labels."""
    if host.isascii() and host == host.lower() and not host.endswith("."):
        return host
    return host_name(host) or host
