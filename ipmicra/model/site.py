"""A web host to crawl."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.address import Address


@dataclass(frozen=True, slots=True)
class Site:
    """A host with the single address used for probing and crawling."""

    host: str
    """Lower case, without a trailing dot; the text of the address if the seed was an address."""
    address: Address
    scheme: str | None = None
    """`http` or `https` if the seed was a URL."""
    port: int | None = None
    """None means the default port."""
