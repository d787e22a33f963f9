"""What is to be crawled."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address


@dataclass(frozen=True, slots=True)
class Site:
    """A web host at an address."""

    host: str
    """Its name, or the address as text."""
    address: IPv4Address | IPv6Address
