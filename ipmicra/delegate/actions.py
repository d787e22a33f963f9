"""What leaves the delegator."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.delegate.account import Account
from ipmicra.model.address import Address
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.site import Site


@dataclass(frozen=True, slots=True)
class AskProbe:
    """Ask a crawler to probe an address; answer with `SampleReturned` or `ProbeLost`."""

    attempt: int
    crawler: str
    address: Address
    reason: str


@dataclass(frozen=True, slots=True)
class Delegated:
    """A subnet belongs to a crawler from now on."""

    key: int
    delegation: Delegation
    account: Account
    """Why each crawler was asked or not."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The answer for one site."""

    site: Site
    crawler: str
    evidence: Evidence
    rtt_ms: float | None
    """Measured or expected; None if nothing is known."""
    probes: int
    """Spent for this answer; the sites that waited for the same subnet cost nothing."""
    key: int
    """The subnet."""


@dataclass(frozen=True, slots=True)
class Revoked:
    """A subnet is nobody's any more."""

    key: int
    delegation: Delegation
    reason: str


@dataclass(frozen=True, slots=True)
class CrawlerMarked:
    """A crawler sent a sample that cannot be true."""

    crawler: str
    address: Address
    rtt_ms: float
    least_ms: float
    """The shortest that light allows."""
    marks: int
    """So far; too many and it is asked no more."""


@dataclass(frozen=True, slots=True)
class CrawlerCleared:
    """A mark is taken back: the place was wrong, not the crawler."""

    crawler: str
    address: Address
    marks: int
    """Those that are left."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """There is no answer for a site."""

    site: Site
    reason: str


Action = AskProbe | Delegated | Assigned | Revoked | CrawlerMarked | CrawlerCleared | GaveUp
