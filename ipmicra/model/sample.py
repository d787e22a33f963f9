"""The results of probes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.address import Address


class Rung(StrEnum):
    """A way to measure, in the order of the ladder."""

    TCP = "tcp"
    """Time of a TCP handshake."""
    HEAD = "head"
    """First byte of the response to HTTP HEAD."""
    GET = "get"
    """First byte of the response to HTTP GET."""
    ICMP = "icmp"
    """Echo request and reply."""


class SideRung(StrEnum):
    """A way to measure that is not on the ladder: what it yields decides nothing, but may raise doubts."""

    CRAWL = "crawl"
    """First byte of pages that a node downloaded: under load, and with the server's own time in it."""


class Loss(StrEnum):
    """Why a sample has no round trip."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    """The network reports that there is no route."""
    RESET = "reset"
    """The connection was reset in a way that says nothing about distance."""
    TLS = "tls"
    """The TLS handshake failed before a round trip could be timed."""
    PROTOCOL = "protocol"
    """The other side does not speak HTTP."""
    REFUSED_ORDER = "refused-order"
    """The agent may not probe this address."""
    RATE_LIMITED = "rate-limited"
    """The agent's politeness limit does not allow the probe before its deadline."""
    AGENT = "agent"
    """The agent did not answer, or its answer was invalid."""
    BUDGET = "budget"
    """The probe budget is spent; nothing was sent."""
    IMPOSSIBLE = "impossible"
    """The round trip is shorter than light allows: the sample is rejected and counts against its crawler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Parts of one exchange in milliseconds; None for parts that did not happen."""

    dns_ms: float | None = None
    tcp_ms: float | None = None
    tls_ms: float | None = None
    first_byte_ms: float | None = None
    download_ms: float | None = None
    """From the first to the last byte of the main page; only where it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The result of one probe: a round trip, or the reason why there is none."""

    crawler: str
    address: Address
    rtt_ms: float | None
    """Shortest round trip; None if the probe was lost."""
    loss: Loss | None = None
    """Set if and only if there is no round trip."""
    rung: Rung | SideRung | None = None
    """Rung of the ladder that answered, or what else it was taken by."""
    all_ms: tuple[float, ...] = ()
    """Every round trip of the probe, in order."""
    timings: Timings | None = None
    """Timings of the shortest exchange."""
    detail: str = ""
    taken_s: float = 0.0
    """Time of the sample by the agent's clock; seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplausibleSample:
    """A round trip that was rejected because light needs longer."""

    crawler: str
    address: Address
    rtt_ms: float
    least_ms: float
    """The shortest that light allows."""
    at_s: float
    """When it was rejected; seconds since 1970, UTC."""
