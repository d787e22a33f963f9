"""What a probe found out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.address import Address


class Rung(StrEnum):
    """A way to measure; the order is the ladder's."""

    TCP = "tcp"
    """Time of a TCP handshake."""
    HEAD = "head"
    """First byte of the answer to HTTP HEAD."""
    GET = "get"
    """First byte of the answer to HTTP GET."""
    ICMP = "icmp"
    """Echo request and reply."""


class Loss(StrEnum):
    """Why a sample has no round trip."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    """The network says that there is no way."""
    RESET = "reset"
    """Cut off in a way that tells nothing of the distance."""
    TLS = "tls"
    """The TLS handshake failed before a time could be taken."""
    PROTOCOL = "protocol"
    """The other side does not speak HTTP."""
    REFUSED_ORDER = "refused-order"
    """The agent may not probe this address."""
    RATE_LIMITED = "rate-limited"
    """The agent's politeness leaves no room within the order's time."""
    AGENT = "agent"
    """The agent did not answer, or not with sense."""
    BUDGET = "budget"
    """The probe budget is spent; nothing was sent."""
    IMPOSSIBLE = "impossible"
    """The round trip is shorter than light allows: the sample is rejected and counts against its crawler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Parts of one exchange in milliseconds; None where a part did not happen."""

    dns_ms: float | None = None
    tcp_ms: float | None = None
    tls_ms: float | None = None
    first_byte_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The result of one probe: a round trip, or the reason why there is none."""

    crawler: str
    address: Address
    rtt_ms: float | None
    """The shortest round trip seen; None if the probe was lost."""
    loss: Loss | None = None
    """Set if and only if there is no round trip."""
    rung: Rung | None = None
    """Where on the ladder the answer came from."""
    all_ms: tuple[float, ...] = ()
    """Every round trip of the probe, in order."""
    timings: Timings | None = None
    """Of the exchange that was shortest."""
    detail: str = ""
    taken_s: float = 0.0
    """When; seconds since 1970, UTC, by the agent's clock."""


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
