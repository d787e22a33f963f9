"""Which subnet belongs to whom."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipmicra.delegate.lifecycle import Hold, Step, next_hold
from ipmicra.model.delegation import Delegation
from ipmicra.model.location import Location


@dataclass(slots=True)
class Held:
    """A delegation in force, with what only the machine needs to know of it."""

    delegation: Delegation
    """Replaced by a longer one when it is renewed."""
    crawler: int
    """Index of its crawler."""
    fleet_size: int
    """Crawlers that had joined when it was last looked at: later ones may be nearer."""
    location: Location | None = None
    """Where the site was that it was decided for."""


class Ledger:
    """Held subnets by key, in order, and by organisation."""

    def __init__(self) -> None:
        """Begin empty."""
        self._held: dict[int, Held] = {}
        self._contested: set[int] = set()
        self._rows: list[int] = []
        """Keys of held subnets that are rows, sorted."""
        self._by_organisation: dict[int, list[int]] = {}

    def __len__(self) -> int:
        """Count the held subnets."""
        return len(self._held)

    def __repr__(self) -> str:
        """Count."""
        return f"<Ledger: {len(self._held)} held, {len(self._contested)} contested>"

    def __iter__(self) -> Iterator[tuple[int, Held]]:
        """Go through held subnets."""
        return iter(self._held.items())

    def get(self, key: int) -> Held | None:
        """Give a subnet's delegation."""
        return self._held.get(key)

    def hold_of(self, key: int) -> Hold:
        """Give a subnet's state."""
        if key in self._contested:
            return Hold.CONTESTED
        return Hold.HELD if key in self._held else Hold.FREE

    def contest(self, key: int) -> None:
        """Note that an attempt is open."""
        next_hold(self.hold_of(key), Step.ATTEMPT_OPENED)
        self._contested.add(key)

    def settle(self, key: int, held: Held, organisation: int) -> None:
        """Note the end of an attempt."""
        next_hold(self.hold_of(key), Step.ATTEMPT_SETTLED)
        self._contested.discard(key)
        self._put(key, held, organisation)

    def give(self, key: int, held: Held, organisation: int) -> None:
        """Give a subnet without an attempt: a crawler's own, or one carried over."""
        next_hold(self.hold_of(key), Step.OWN_SUBNET)
        self._put(key, held, organisation)

    def abandon(self, key: int) -> None:
        """Note an attempt that found nobody; an earlier delegation, if any, stays."""
        next_hold(self.hold_of(key), Step.ATTEMPT_ABANDONED)
        self._contested.discard(key)

    def free(self, key: int, step: Step, organisation: int) -> None:
        """End a delegation."""
        next_hold(self.hold_of(key), step)
        del self._held[key]
        if key >= 0:
            del self._rows[bisect_left(self._rows, key)]
        kept = self._by_organisation.get(organisation)
        if kept is not None and key in kept:
            kept.remove(key)

    def rows_between(self, first: int, behind: int) -> Sequence[int]:
        """Give held rows from one number up to another, in order."""
        return self._rows[bisect_left(self._rows, first) : bisect_left(self._rows, behind)]

    def of_organisation(self, organisation: int) -> Sequence[int]:
        """Give held subnets of an organisation, in the order in which they were given."""
        return self._by_organisation.get(organisation, ())

    def _put(self, key: int, held: Held, organisation: int) -> None:
        if key not in self._held:
            if key >= 0:
                insort(self._rows, key)
            if organisation:
                self._by_organisation.setdefault(organisation, []).append(key)
        self._held[key] = held
