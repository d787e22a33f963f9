"""The procedure of Papapetrou & Samaras 2004, step by step.

1. The subnet is delegated already: the machine answers before any policy is asked.
2. Other subnets of the same organisation are delegated: to one crawler, then it gets this one too; to
   several, then they probe, and the first under the threshold takes it, else the best of them. "Only if this
   search is unsuccessful" the paper goes on; with `beyond_organisation` a search that found nobody under the
   threshold counts as one, and the climb begins.
3. Climb: at each ancestor, the holders of delegated siblings and of the siblings' descendants probe, the
   nearest by address first (the paper leaves the order open); the first under the threshold takes the
   subnet. Nobody is asked twice.
4. No sample is under the threshold: the lowest one. No subnet is delegated yet: all crawlers are asked.

The paper does not say what a crawler changes that joins later. Here it probes each subnet that others hold,
when that is next used; the lowest sample takes the subnet. Of several that joined, those whose own subnets
are nearest by address are asked first, up to the first under the threshold that is nearer than the holder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ipmicra.delegate.attempt import Ask, Attempt, Choice, Review, Settle
from ipmicra.delegate.config import PaperConfig
from ipmicra.delegate.policies.baselines import Simple, best_of
from ipmicra.delegate.ports import Scope
from ipmicra.model.delegation import Evidence, Origin


@dataclass(slots=True)
class _Notes:
    """Where the climb is."""

    candidates: Iterator[tuple[int, str]]
    organisation: frozenset[int]
    """Crawlers that hold subnets of the same organisation."""
    origin: Origin | None
    """The first of those subnets, if all have the same crawler."""


class Paper(Simple):
    """The published procedure with its fixed threshold."""

    name = "paper"
    scope = Scope.SUBNET
    why_not = "the search ended before its turn"

    def __init__(self, config: PaperConfig | None = None) -> None:
        """Take the threshold of the paper unless another is given."""
        self._config = config or PaperConfig()
        self._threshold_ms = self._config.threshold_ms

    def can_win(self, crawler: int, attempt: Attempt) -> bool:  # noqa: ARG002 - the interface
        """Let every newcomer try, unless the user wants none to."""
        return self._config.reconsiders

    def decide(self, attempt: Attempt) -> Choice:
        """Go one step further."""
        review = attempt.review
        compared = self._compare(attempt, review) if review is not None and review.newcomers else None
        return compared or self._search(attempt)

    def _search(self, attempt: Attempt) -> Choice:
        """Follow the procedure."""
        if attempt.scratch is None:
            attempt.scratch = self._begin(attempt)
        notes: _Notes = attempt.scratch
        if len(notes.organisation) == 1 and not attempt.asked:
            (holder,) = notes.organisation
            return Settle(
                holder,
                Evidence.INHERITED,
                None,
                "it holds the organisation's other subnets",
                origin=notes.origin,
            )
        best = attempt.best
        if best is not None and attempt.samples[best] < self._threshold_ms:
            return best_of(attempt, f"under the threshold of {self._threshold_ms:g} ms")
        is_asked = notes.organisation and set(attempt.reasons) >= notes.organisation
        if is_asked and best is not None and not self._config.beyond_organisation:
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

    def _compare(self, attempt: Attempt, review: Review) -> Choice | None:
        """Compare the holder of a subnet with crawlers that joined later; None if nobody has a sample."""
        if self.roster.is_usable(review.holder) and not attempt.was_tried(review.holder):
            return Ask((review.holder,), "holds the subnet, and its round trip is not known")
        best = attempt.best
        is_found = best in review.newcomers and attempt.samples[best] < self._threshold_ms
        if not is_found:
            for crawler in sorted(review.newcomers, key=lambda one: abs(self._own_row(one) - attempt.row)):
                if self.roster.is_usable(crawler) and not attempt.was_tried(crawler):
                    return Ask((crawler,), "joined after the subnet was delegated")
        return None if best is None else best_of(attempt, "the lowest of its holder's and newcomers' samples")

    def _own_row(self, crawler: int) -> int:
        return self.tree.row_of(str(self.roster.crawlers[crawler].address))

    def _begin(self, attempt: Attempt) -> _Notes:
        organisation = self.tree.organisation_number(attempt.row) if attempt.key >= 0 else 0
        usable: dict[int, int] = {}
        for key in self.ledger.of_organisation(organisation):
            holder = self._holder(key)
            if key != attempt.key and holder is not None and self.roster.is_usable(holder):
                usable.setdefault(holder, key)
        origin = self._origin(next(iter(usable.values()))) if len(usable) == 1 else None
        return _Notes(self._candidates(attempt, list(usable)), frozenset(usable), origin)

    def _origin(self, key: int) -> Origin | None:
        """Return where an organisation's crawler comes from: its other subnet, and when that was measured."""
        held = self.ledger.get(key)
        if held is None:
            return None
        one = held.delegation
        return Origin(one.first, one.last, None if one.origin is None else one.origin.measured_s)

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
