"""The procedure of Papapetrou & Samaras 2004, step by step.

1. The subnet is delegated already: the machine answers before any policy is asked.
2. Other subnets of the same organisation are delegated: to one crawler, then it gets this one too; to
   several, then they probe, and the first under the threshold takes it, else the best of them.
3. Climb: at each ancestor, the holders of delegated siblings and of the siblings' descendants probe, the
   nearest by address first (the paper leaves the order open); the first under the threshold takes the
   subnet. Nobody is asked twice.
4. No sample is under the threshold: the lowest one. No subnet is delegated yet: all crawlers are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ipmicra.delegate.attempt import Ask, Attempt, Choice, Settle
from ipmicra.delegate.config import PaperConfig
from ipmicra.delegate.policies.baselines import Simple, best_of
from ipmicra.delegate.ports import Scope
from ipmicra.model.delegation import Evidence


@dataclass(slots=True)
class _Notes:
    """Where the climb is."""

    candidates: Iterator[tuple[int, str]]
    organisation: frozenset[int]
    """Crawlers that hold subnets of the same organisation."""


class Paper(Simple):
    """The published procedure with its fixed threshold."""

    name = "paper"
    scope = Scope.SUBNET
    why_not = "the search ended before its turn"

    def __init__(self, config: PaperConfig | None = None) -> None:
        """Take the threshold of the paper unless another is given."""
        self._threshold_ms = (config or PaperConfig()).threshold_ms

    def decide(self, attempt: Attempt) -> Choice:
        """Go one step further."""
        if attempt.scratch is None:
            attempt.scratch = self._begin(attempt)
        notes: _Notes = attempt.scratch
        if len(notes.organisation) == 1 and not attempt.asked:
            (holder,) = notes.organisation
            return Settle(holder, Evidence.INHERITED, None, "it holds the organisation's other subnets")
        best = attempt.best
        if best is not None and attempt.samples[best] < self._threshold_ms:
            return best_of(attempt, f"under the threshold of {self._threshold_ms:g} ms")
        if notes.organisation and set(attempt.reasons) >= notes.organisation and best is not None:
            return best_of(attempt, "the best of the organisation's crawlers")
        for crawler, reason in notes.candidates:
            if self.roster.is_usable(crawler) and not attempt.was_tried(crawler):
                return Ask((crawler,), reason)
        late = [one for one in self.roster.usable() if not attempt.was_tried(one)]
        if best is None and late:
            return Ask((late[0],), "joined while the others were lost")
        return best_of(
            attempt, f"no sample is under the threshold of {self._threshold_ms:g} ms: the lowest sample"
        )

    def _begin(self, attempt: Attempt) -> _Notes:
        organisation = self.tree.organisation_number(attempt.row) if attempt.key >= 0 else 0
        holders = dict.fromkeys(self._holder(key) for key in self.ledger.of_organisation(organisation))
        usable = [crawler for crawler in holders if crawler is not None and self.roster.is_usable(crawler)]
        return _Notes(self._candidates(attempt, usable), frozenset(usable))

    def _candidates(self, attempt: Attempt, organisation: list[int]) -> Iterator[tuple[int, str]]:
        """Return crawlers in the order of the procedure, some more than once."""
        for crawler in organisation:
            yield crawler, "holds a subnet of the same organisation"
        seen = range(0)
        above = self.tree.parent(attempt.row) if attempt.key >= 0 else attempt.row
        while above is not None:
            inside = self.tree.descendants(above)
            behind = inside[-1] + 1 if len(inside) else above + 1
            rows = [row for row in self.ledger.rows_between(above, behind) if row not in seen]
            for row in sorted(rows, key=lambda row: abs(row - attempt.row)):
                if row != attempt.key and (holder := self._holder(row)) is not None:
                    yield holder, f"holds a subnet inside row {above}"
            seen = range(above, behind)
            above = self.tree.parent(above)
        for crawler in self.roster.usable():
            yield crawler, "no crawler holds a subnet nearby"

    def _holder(self, key: int) -> int | None:
        held = self.ledger.get(key)
        return held.crawler if held is not None and self.roster.is_present(held.crawler) else None
