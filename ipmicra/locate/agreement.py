"""The tables of a list: hits per heuristic, how far two of them agree, and how often each is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ipmicra.locate.locator import Located
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic, Hint, Location

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How a heuristic's votes compare with true places."""

    heuristic: Heuristic
    right: int
    wrong: int
    known: int
    """Targets whose true place is known."""

    @property
    def precision(self) -> float | None:
        """Share of the votes that are right; None if there are none."""
        votes = self.right + self.wrong
        return self.right / votes if votes else None

    @property
    def recall(self) -> float | None:
        """Share of the targets that it places rightly; None if no true place is known."""
        return self.right / self.known if self.known else None


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


def count_accuracy(
    located: Sequence[Located], truths: Sequence[Location | None], order: Sequence[Heuristic]
) -> list[Accuracy]:
    """Compare each heuristic's votes with the places that are known to be true."""
    pairs = [(one, truth) for one, truth in zip(located, truths, strict=True) if truth]
    rows = []
    for heuristic in order:
        fates = [
            is_right(vote, truth) for one, truth in pairs for vote in one.votes if vote.heuristic is heuristic
        ]
        right = sum(fates)
        rows.append(Accuracy(heuristic=heuristic, right=right, wrong=len(fates) - right, known=len(pairs)))
    return rows


def is_right(vote: Hint, truth: Location) -> bool:
    """Return whether a vote is as near to the true place as it claims, or near enough for a city."""
    return km_between(vote.location, truth) <= max(AGREE_KM, vote.location.radius_km)


def agree(one: Hint, other: Hint) -> bool:
    """Return whether two votes mean the same place, as far as their radii allow."""
    a, b = one.location, other.location
    return km_between(a, b) <= max(AGREE_KM, a.radius_km + b.radius_km)
