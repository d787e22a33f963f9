"""Host names to addresses, through dnspython."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from ipmicra.errors import InputError

if TYPE_CHECKING:
    import dns.resolver

LIFETIME_S = 5.0
"""Seconds for one name, retries included."""


class Resolver:
    """Resolves host names, each once."""

    def __init__(self, resolver: dns.resolver.Resolver | None = None) -> None:
        """Ask the given resolver, by default the system's; it is read at the first question."""
        self._resolver = resolver
        self._known: dict[str, list[IPv4Address | IPv6Address]] = {}

    def addresses_of(self, name: str) -> list[IPv4Address | IPv6Address]:
        """Give the addresses of a host name, IPv4 first."""
        if name not in self._known:
            self._known[name] = self._ask(name)
        return self._known[name]

    def _ask(self, name: str) -> list[IPv4Address | IPv6Address]:
        import dns.exception  # loaded where a name is asked for: addresses need no DNS
        import dns.resolver

        try:
            self._resolver = self._resolver or dns.resolver.Resolver()
            found = self._resolver.resolve_name(name, lifetime=LIFETIME_S)
        except dns.resolver.NXDOMAIN as error:
            raise InputError("there is no such host name") from error
        except dns.exception.DNSException as error:
            raise InputError(f"the host name cannot be resolved: {error}") from error
        addresses = sorted(
            {ip_address(address) for address in found.addresses()}, key=lambda a: (a.version, int(a))
        )
        if not addresses:
            raise InputError("the host name has no address")
        return addresses
