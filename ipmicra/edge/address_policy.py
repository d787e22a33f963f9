"""Which addresses may be contacted: public ones, and what the operator allows.

Agents ask it about probes, the coordinator about agents that call in, crawl nodes about pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv6Address

from ipmicra.edge.agent.opt_out import OptOutList
from ipmicra.edge.files.prefixes import PrefixSet
from ipmicra.model.address import Address

SPECIAL = {
    # IANA IPv4 Special-Purpose Address Registry (RFC 6890 and its updates), and multicast
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by carriers",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local, and the metadata of clouds",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "AMT",
    "192.88.99.0/24": "6to4 relays",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "AS112",
    "198.18.0.0/15": "benchmarks",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    # IPv6: only global unicast (2000::/3) is public, and not all of it; forms that carry an IPv4 address
    # inside (mapped, compatible, 6to4, Teredo, NAT64) would be a way around the list above
    "::/3": "reserved, loopback, IPv4 in disguise or NAT64",
    "2001::/23": "protocol assignments and Teredo",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "2620:4f:8000::/48": "AS112",
    "3fff::/20": "documentation",
    "4000::/2": "reserved",
    "8000::/1": "reserved, private, link-local or multicast",
}
"""Prefixes that are not public, and why."""
WEB_PORTS = (80, 443)


class AddressPolicy:
    """Decides whether an address may be contacted."""

    def __init__(
        self,
        allowed: Iterable[str] = (),
        ports: Iterable[int] = WEB_PORTS,
        opt_out: OptOutList | None = None,
    ) -> None:
        """Refuse what is not public unless the operator allows its prefix; an opt-out always counts."""
        self._special = PrefixSet(SPECIAL)
        self._allowed = PrefixSet(allowed)
        self._ports = frozenset(ports)
        self._opt_out = opt_out

    def refusal(self, address: Address, port: int | None = None) -> str | None:
        """Return the reason to refuse, None if there is none."""
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if self._opt_out is not None:
            prefix = self._opt_out.find(address)
            if prefix is not None:
                return f"{address} is in {prefix}, whose holder does not want to be probed"
        special = self._special.find(address)
        if special is not None and address not in self._allowed:
            return f"{address} is not public: {special} is {SPECIAL[special]}"
        if port is not None and port not in self._ports:
            return f"port {port} is none of {', '.join(map(str, sorted(self._ports)))}"
        return None
