"""Who gets what: the delegation of a subnet, and the decision for one site."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.address import Address, range_text


class Evidence(StrEnum):
    """How an answer was reached."""

    PROBED = "probed"
    """The subnet's own samples."""
    INHERITED = "inherited"
    """Samples of the organisation, of siblings or of wider subnets."""
    COORDINATE = "coordinate"
    """Distance between network coordinates."""
    GEOLOCATED = "geolocated"
    """Distance on the Earth."""
    ANYCAST = "anycast"
    """The address is in many places at once: any crawler will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """A subnet that belongs to a crawler until it expires."""

    first: Address
    last: Address
    """First and last address identify the subnet: row numbers change between editions."""
    crawler: str
    evidence: Evidence
    rtt_ms: float | None
    """The deciding sample, or the expected round trip; None if unknown."""
    probes: int
    """Number of probes spent on it."""
    created_s: float
    """Seconds since 1970, UTC."""
    expires_s: float
    """Seconds since 1970, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer for one site: its crawler, and what that rests on."""

    host: str
    address: Address
    first: Address
    last: Address
    """The delegated subnet, by its addresses."""
    crawler: str
    evidence: Evidence
    rtt_ms: float | None
    """Measured or expected; None if nothing is known."""
    probes: int
    """Spent for this answer; other sites of the same subnet cost nothing."""

    @property
    def subnet(self) -> str:
        """The subnet as a prefix, or by its two ends."""
        return range_text(self.first, self.last)
