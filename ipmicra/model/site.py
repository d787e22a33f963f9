"""A web host to crawl."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.address import Address


@dataclass(frozen=True, slots=True)
class Site:
    """A host with the one address that is used for probing and for crawling."""

    host: str
    """In lower case, without a dot at the end; an address's own text where the seed was an address."""
    address: Address
    scheme: str | None = None
    """`http` or `https` if the seed was a URL."""
    port: int | None = None
    """None stands for the usual one."""
