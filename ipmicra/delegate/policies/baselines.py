"""Policies to compare with: everybody probes, the nearest on the map probe, chance, a hash of the subnet."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Ask, Attempt, Choice, Considered, Others, Settle, Verdict
from ipmicra.delegate.ledger import Ledger
from ipmicra.delegate.ports import Scope
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree
from ipmicra.model.address import Address
from ipmicra.model.delegation import Evidence
from ipmicra.model.geo import point_of
from ipmicra.model.location import Location


class Simple:
    """What policies share that learn nothing."""

    name = "simple"
    scope = Scope.SITE
    why_not = "not one of those that this policy asks"

    def bind(self, roster: Roster, ledger: Ledger, tree: SubnetTree) -> None:
        """Remember what may be looked at."""
        self.roster, self.ledger, self.tree = roster, ledger, tree

    def crawler_added(self, crawler: int) -> None:
        """Nothing depends on it."""

    def learn(self, attempt: Attempt) -> None:
        """Learn nothing."""

    def extent(self, attempt: Attempt, crawler: int) -> tuple[bool, str]:  # noqa: ARG002 - the interface
        """Decide for single addresses."""
        return False, ""

    def spread_since(self) -> list[int]:
        """Hold no subnet as a whole."""
        return []

    def can_win(self, crawler: int, attempt: Attempt) -> bool:  # noqa: ARG002 - the interface
        """Never take a subnet from its holder."""
        return False

    def explain(self, attempt: Attempt) -> Others:
        """Say the same of all that were not asked."""
        free = self.roster.free(attempt).nonzero()[0]

        def named(most: int) -> list[Considered]:
            names = map(self.roster.name, free[:most].tolist())
            return [Considered(crawler=one, verdict=Verdict.NOT_ASKED, reason=self.why_not) for one in names]

        return Others(len(free), named)


def best_of(attempt: Attempt, reason: str) -> Settle:
    """Settle on the shortest round trip."""
    best = attempt.best
    assert best is not None  # noqa: S101 - callers have a sample
    return Settle(best, Evidence.PROBED, attempt.samples[best], reason)


class Everyone(Simple):
    """All crawlers probe; the nearest takes the subnet."""

    name = "everyone"

    def decide(self, attempt: Attempt) -> Choice:
        """Ask all who were not asked."""
        rest = self.roster.free(attempt).nonzero()[0]
        if len(rest):
            return Ask(tuple(rest.tolist()), "everybody probes")
        return best_of(attempt, "the shortest of all round trips")

    def can_win(self, crawler: int, attempt: Attempt) -> bool:  # noqa: ARG002 - the interface
        """Any newcomer may be nearer."""
        return True


class Geo(Simple):
    """The k nearest on the map probe; without a place, the k first of the fleet."""

    name = "geo"
    why_not = "farther away on the map"

    def __init__(self, nearest: int = 2) -> None:
        """Ask this many."""
        self._nearest = nearest

    def decide(self, attempt: Attempt) -> Choice:
        """Ask the nearest that were not asked; replace the lost ones."""
        missing = self._nearest - len(attempt.samples)
        free = self.roster.free(attempt).nonzero()[0]
        if missing > 0 and len(free):
            return Ask(tuple(self._nearest_of(free, attempt.location, missing)), "near on the map")
        return best_of(attempt, f"the shortest of {len(attempt.samples)} round trips")

    def _nearest_of(self, crawlers: NDArray[np.intp], location: Location | None, count: int) -> list[int]:
        """Return so many of some crawlers: those nearest to a place, in order."""
        if location is not None:
            away = ((self.roster.points[crawlers] - point_of(location)) ** 2).sum(axis=1)
            crawlers = crawlers[np.argsort(away, kind="stable")]  # NaN, of an unknown place, comes last
        return [int(one) for one in crawlers[:count]]


class Unasked(Simple):
    """What policies share that ask nobody: many addresses are decided at a time, one is the special case."""

    reason = "chosen without a probe"

    def choose_many(self, addresses: Sequence[Address], count: int) -> Sequence[int]:
        """Return a number below `count` for each address: its place among the usable crawlers."""
        raise NotImplementedError

    def settle_many(self, addresses: Sequence[Address]) -> list[Settle]:
        """Decide for addresses, in order; those of one crawler share their answer."""
        usable = self.roster.usable()
        settles = [Settle(crawler, Evidence.INHERITED, None, self.reason) for crawler in usable]
        return [settles[chosen] for chosen in self.choose_many(addresses, len(usable))]

    def decide(self, attempt: Attempt) -> Choice:
        """Decide for one address."""
        return self.settle_many([attempt.address])[0]


class Random(Unasked):
    """Any crawler, without a probe, as UCYMicra does (Papapetrou & Samaras 2003)."""

    name = "random"
    reason = "drawn by chance"
    why_not = "chance chose another"

    def __init__(self, rng: np.random.Generator) -> None:
        """Draw from this generator."""
        self._rng = rng

    def choose_many(self, addresses: Sequence[Address], count: int) -> Sequence[int]:
        """Draw a crawler for each; the numbers are those of as many single draws."""
        return [int(self._rng.integers(count)) for _ in addresses]


def hashed(address: Address, count: int) -> int:
    """Return the number, below `count`, that a hash of an address points at."""
    return crc32(address.packed) % count


class Hash(Unasked):
    """The crawler that a hash of the subnet's first address points at, without a probe."""

    name = "hash"
    reason = "the hash of the address"
    why_not = "the hash points at another"

    def choose_many(self, addresses: Sequence[Address], count: int) -> Sequence[int]:
        """Take the hash modulo the fleet."""
        return [hashed(address, count) for address in addresses]
