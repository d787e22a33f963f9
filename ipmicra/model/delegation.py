"""Who gets what: the delegation of a subnet, and the decision for one site."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.address import Address, range_text


class Evidence(StrEnum):
    """How an answer was reached."""

    PROBED = "probed"
    """Samples of its own: of the site, or for a delegation of the site that it was decided for."""
    INHERITED = "inherited"
    """Samples of others: of another site of the subnet, of the organisation, of siblings or wider subnets."""
    COORDINATE = "coordinate"
    """Distance between network coordinates."""
    GEOLOCATED = "geolocated"
    """Distance on the Earth."""
    ANYCAST = "anycast"
    """The address is in many places at once: any crawler will do."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What an answer rests on: which address was measured, or which subnet it was taken over from."""

    first: Address
    last: Address
    """First and last address; both the same for the address of a site."""
    measured_s: float | None = None
    """When its crawler measured there, in seconds since 1970, UTC; None if nothing was measured."""

    @property
    def text(self) -> str:
        """The address, or the subnet as a prefix or by its two ends."""
        return str(self.first) if self.first == self.last else range_text(self.first, self.last)


OWN = "own"
"""Stands for a policy where a crawler was given the subnet that it stands in."""


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
    origin: Origin | None = None
    """What it rests on; None if that is no single address or subnet, as for a model or a hash."""
    checked_s: float | None = None
    """When its crawler was last compared with others; None for the time of its creation."""
    policy: str | None = None
    """Who decided: the name of a policy, or `OWN`; None for one that an earlier version stored."""


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
    inherited_from: Origin | None = None
    """What was measured or located instead of the site; None if it was the site itself, or nothing."""

    @property
    def subnet(self) -> str:
        """The subnet as a prefix, or by its two ends."""
        return range_text(self.first, self.last)
