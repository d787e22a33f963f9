"""What leaves the machine: what its driver must do, in this order."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.delegate.attempt import Account
from ipmicra.model.address import Address
from ipmicra.model.crawler import TrackRecord
from ipmicra.model.delegation import Decision, Delegation
from ipmicra.model.location import Location
from ipmicra.model.probe import Probe
from ipmicra.model.sample import ImplausibleSample
from ipmicra.model.site import Site


@dataclass(frozen=True, slots=True)
class AskProbe:
    """Send a probe; answer with `SampleReturned` or `ProbeLost`."""

    attempt: int
    probe: Probe
    reason: str


@dataclass(frozen=True, slots=True)
class Delegated:
    """A subnet belongs to a crawler from now on."""

    key: int
    delegation: Delegation
    account: Account
    """Why each crawler was asked or not."""
    address: Address | None = None
    """The site that it was decided for; None for a crawler's own subnet."""
    location: Location | None = None
    """Where that site is thought to be."""
    is_makeshift: bool = False
    """Whether only an empty budget kept the subnet from being probed: good for now, not worth storing."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """A delegation was used late in its life and lives on."""

    delegation: Delegation
    """With its new end."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The answer for one site."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Revoked:
    """A subnet no longer belongs to a crawler."""

    key: int
    delegation: Delegation
    reason: str


@dataclass(frozen=True, slots=True)
class CrawlerChecked:
    """A sample was held against the speed of light, and its crawler's record changed."""

    crawler: str
    record: TrackRecord
    """With this sample in it."""
    implausible: ImplausibleSample | None = None
    """The sample, if light says that it cannot be true."""
    is_flagged: bool = False
    """Whether the crawler is not asked any more."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """There is no answer for a site."""

    site: Site
    reason: str


Action = AskProbe | Delegated | Renewed | Assigned | Revoked | CrawlerChecked | GaveUp
