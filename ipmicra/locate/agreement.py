"""The two tables of a list: hits per heuristic, and how far two heuristics agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ipmicra.locate.locator import Located
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic, Hint

AGREE_KM = 100.0
"""Votes closer than this agree; so do votes whose circles of uncertainty overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """How often a heuristic voted, and how often its vote counted."""

    heuristic: Heuristic
    votes: int
    wins: int
    share: float
    """Wins over all targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often two heuristics voted on the same target, and how often alike."""

    one: Heuristic
    other: Heuristic
    both: int
    agree: int

    @property
    def share(self) -> float | None:
        """Share of the common targets on which they agree; None if there are none."""
        return self.agree / self.both if self.both else None


def count_hits(located: Sequence[Located], order: Sequence[Heuristic]) -> list[Hits]:
    """Count votes and wins of each heuristic, in the order of the chain."""
    rows = []
    for heuristic in order:
        votes = sum(any(vote.heuristic is heuristic for vote in one.votes) for one in located)
        wins = sum(one.heuristic is heuristic for one in located)
        share = wins / len(located) if located else 0.0
        rows.append(Hits(heuristic=heuristic, votes=votes, wins=wins, share=share))
    return rows


def count_agreements(located: Sequence[Located], order: Sequence[Heuristic]) -> list[Agreement]:
    """Compare all pairs of heuristics on the targets that both voted on."""
    votes = [{vote.heuristic: vote for vote in one.votes} for one in located]
    rows = []
    for one, other in combinations(order, 2):
        pairs = [(found[one], found[other]) for found in votes if one in found and other in found]
        rows.append(
            Agreement(one=one, other=other, both=len(pairs), agree=sum(agree(*pair) for pair in pairs))
        )
    return rows


def agree(one: Hint, other: Hint) -> bool:
    """Return whether two votes mean the same place, as far as their radii allow."""
    a, b = one.location, other.location
    return km_between(a, b) <= max(AGREE_KM, a.radius_km + b.radius_km)
