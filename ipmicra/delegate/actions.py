"""What leaves the machine: what its driver must do, in this order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipmicra.delegate.attempt import Account, Settle
from ipmicra.delegate.subnets import single
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
    since_s: float = 0.0
    """A sample that was taken before this is no answer."""


@dataclass(frozen=True, slots=True)
class AskPlace:
    """Locate a site that cannot be probed; answer with `PlaceFound`."""

    attempt: int
    site: Site


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
class AnsweredMany:
    """Addresses belong to crawlers from now on, each by itself, and their sites have their answers.

    A policy that asks nobody answers by the thousand. Columns stand for a `Delegated` and an `Assigned` of
    each site (`one_by_one`), because most of them are only written down.
    """

    sites: Sequence[Site]
    """In the order of their arrival; no two have the same address."""
    settles: Sequence[Settle]
    crawlers: Sequence[str]
    """Names."""
    accounts: Sequence[Account]
    """Shared by the sites of a crawler."""
    locations: Sequence[Location | None]
    created_s: float
    expires_s: float
    policy: str

    def __len__(self) -> int:
        """Count the sites."""
        return len(self.sites)

    def delegation(self, i: int) -> Delegation:
        """Return the delegation of the address of a site, by number."""
        address, settle = self.sites[i].address, self.settles[i]
        return Delegation(
            first=address,
            last=address,
            crawler=self.crawlers[i],
            evidence=settle.evidence,
            rtt_ms=settle.rtt_ms,
            probes=0,
            created_s=self.created_s,
            expires_s=self.expires_s,
            policy=self.policy,
        )

    def decisions(self) -> Iterator[Decision]:
        """Return the answers for the sites."""
        for site, settle, crawler in zip(self.sites, self.settles, self.crawlers, strict=True):
            yield Decision(
                host=site.host,
                address=site.address,
                first=site.address,
                last=site.address,
                crawler=crawler,
                evidence=settle.evidence,
                rtt_ms=settle.rtt_ms,
                probes=0,
            )

    def one_by_one(self) -> Iterator[Delegated | Assigned]:
        """Return what it stands for."""
        for i, decision in enumerate(self.decisions()):
            address = decision.address
            one = self.delegation(i)
            yield Delegated(single(address), one, self.accounts[i], address, self.locations[i])
            yield Assigned(decision)


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


Action = (
    AskProbe | AskPlace | Delegated | Renewed | Assigned | AnsweredMany | Revoked | CrawlerChecked | GaveUp
)
