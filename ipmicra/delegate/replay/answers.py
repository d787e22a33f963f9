"""What answers are worth by how they were reached: without a probe, and by how sure the policy said it was.

Two questions a user has before trusting a policy. Of the answers that cost no probe, how many were right, and
does it matter whether they were inherited or taken from a place? And when the policy says that it is 90 %
sure, is it right in nine cases out of ten? An answer is right if no crawler is nearer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan
from typing import Any

from ipmicra.delegate.replay.quality import SiteOutcome

EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Bounds of the groups by how sure a policy said it was."""


@dataclass(slots=True)
class Group:
    """Answers of a kind."""

    answers: int = 0
    right: int = 0
    said: float = 0.0
    """Sum of the chances that the policy gave them."""

    def add(self, *, is_right: bool, said: float = 0.0) -> None:
        """Count one."""
        self.answers += 1
        self.right += is_right
        self.said += said

    def record(self) -> dict[str, Any]:
        """Describe it as JSON does."""
        return {
            "answers": self.answers,
            "right": round(self.right / self.answers, 4) if self.answers else None,
        }


@dataclass(slots=True)
class Trust:
    """How far answers are to be trusted."""

    answers: int = 0
    unprobed: dict[str, Group] = field(default_factory=dict)
    """Answers without a probe, by evidence."""
    said: list[Group] = field(default_factory=lambda: [Group() for _ in pairwise(EDGES)])
    """Answers by how sure the policy said it was; those of policies that do not say are in none."""

    def record(self) -> dict[str, Any]:
        """Describe it as JSON does: shares of all answers, and the tables."""
        unprobed = sum(group.answers for group in self.unprobed.values())
        right = sum(group.right for group in self.unprobed.values())
        return {
            "unprobed": round(unprobed / self.answers, 4) if self.answers else None,
            "unprobed_right": round(right / unprobed, 4) if unprobed else None,
            "unprobed_by_evidence": {name: self.unprobed[name].record() for name in sorted(self.unprobed)},
            "calibration": [
                {"from": low, "to": high, "said": round(group.said / group.answers, 4), **group.record()}
                for (low, high), group in zip(pairwise(EDGES), self.said, strict=True)
                if group.answers
            ],
        }


def trust_of(orders: Iterable[Sequence[SiteOutcome]]) -> Trust:
    """Count the answers of several orders of arrival; those that cannot be judged are left out."""
    found = Trust()
    for outcome in (one for outcomes in orders for one in outcomes):
        if isnan(outcome.excess_ms) or not outcome.is_measured:
            continue
        is_right = outcome.excess_ms <= 0
        found.answers += 1
        if not outcome.probes and outcome.evidence is not None:
            found.unprobed.setdefault(outcome.evidence, Group()).add(is_right=is_right)
        if outcome.chance is not None:
            at = next(i for i, high in enumerate(EDGES[1:]) if outcome.chance <= high or high == EDGES[-1])
            found.said[at].add(is_right=is_right, said=outcome.chance)
    return found
