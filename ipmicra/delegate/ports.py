"""What the delegator needs from others, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, runtime_checkable

from ipmicra.delegate.attempt import Attempt, Choice, Others, Settle
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.address import Address
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.model.types import Floats


class LocationSource(Protocol):
    """Where sites are, as far as known."""

    def location_of(self, site: Site, key: int) -> Location | None:
        """Return a site's place; `key` is its subnet (see `ipmicra.delegate.subnets`)."""


@dataclass(frozen=True, slots=True)
class CoordinateTrips:
    """Round trips to an address by its coordinate."""

    expected_ms: Sequence[float]
    """From each crawler that was asked for; infinite from one that has no coordinate."""
    basis: str
    """What the coordinate rests on, in words."""


class CoordinateSource(Protocol):
    """Round trips by network coordinates."""

    def expected_ms_many(self, address: Address, crawlers: Sequence[str]) -> CoordinateTrips | str:
        """Return the expected round trip from each crawler in ms, or why the address has none."""


class DistanceTrips(Protocol):
    """Round trips by distance on the Earth."""

    def expected_ms(self, km: float) -> float:
        """Return the expected round trip over a distance, in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackSources:
    """What decides about sites that cannot be probed."""

    coordinates: CoordinateSource | None = None
    distances: DistanceTrips | None = None
    """Without it, answers by location carry no expected round trip."""
    asks_places: bool = False
    """Whether such sites are located once more, with more effort (`AskPlace`), before their place decides."""


class Settlements(Protocol):
    """Where people live: sites of a country are where its people are, more likely than elsewhere."""

    def of(self, country: str) -> tuple[Floats, Floats]:
        """Return points of a country, as unit vectors, and the people around each; none for no country."""


class PrefixSet(Protocol):
    """A list of prefixes that are known to be in many places."""

    def __contains__(self, address: str) -> bool:
        """Return whether one of them holds an address, given as text."""


class Scope(Enum):
    """What one decision of a policy is good for."""

    SITE = auto()
    """The site's address alone."""
    SUBNET = auto()
    """The whole subnet, wherever its sites are."""
    PLACE = auto()
    """A slice, or the whole subnet where the policy says so (see `ipmicra.delegate.units`)."""


class Policy(Protocol):
    """A way to choose a crawler. It may learn; it never acts."""

    name: str
    scope: Scope

    def bind(self, roster: Roster, ledger: Ledger, tree: SubnetTree) -> None:
        """Get to know what it may look at; called once, before all else."""

    def crawler_added(self, crawler: int) -> None:
        """Take note of a crawler that was never there before."""

    def decide(self, attempt: Attempt) -> Choice:
        """Say what to do next; asked again when the probes it wants are in or lost."""

    def learn(self, attempt: Attempt) -> None:
        """Learn from an attempt's samples at its end, or from a sample of another attempt."""

    def extent(self, attempt: Attempt, crawler: int) -> tuple[bool, str]:
        """Return whether an answer for a slice is good for the whole subnet, and why; after `learn`."""

    def spread_since(self) -> list[int]:
        """Return subnets delegated as a whole that turned out to be in several places since last asked."""

    def can_win(self, crawler: int, attempt: Attempt) -> bool:
        """Return whether a crawler that joined later may be nearer than the holder, whose sample is known."""

    def explain(self, attempt: Attempt) -> Others:
        """Return what can say, later, why the others were not asked."""


@runtime_checkable
class UnaskedPolicy(Policy, Protocol):
    """A policy that never asks for a probe: it decides at once, and for many addresses at a time."""

    def settle_many(self, addresses: Sequence[Address]) -> list[Settle]:
        """Decide for addresses, in order, while there is a usable crawler; `decide` does it for one."""
