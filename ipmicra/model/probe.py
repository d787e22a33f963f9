"""The order to measure."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.model.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The order to measure from a crawler to a site."""

    crawler: str
    """Name of the crawler whose agent probes."""
    address: Address | None
    """Address to probe; None lets the agent resolve the host itself."""
    host: str | None = None
    """Name for the Host header and for TLS; not needed for a TCP handshake."""
    scheme: str | None = None
    """`http` or `https`; None tries https first."""
    port: int | None = None
    """None means the default port of the scheme."""
