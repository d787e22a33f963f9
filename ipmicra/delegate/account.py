"""Why each crawler was asked or not: what `ipmicra explain` shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from ipmicra.delegate.attempt import Attempt, Settle
from ipmicra.model.sample import Loss

KNOWN = "its sample was known"


class Verdict(StrEnum):
    """What became of a crawler in an attempt."""

    CHOSEN = "chosen"
    """It got the subnet; the reason says why the search ended."""
    KNOWN = "known"
    """It had a sample of the subnet before."""
    ASKED = "asked"
    NOT_ASKED = "not-asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """One crawler in one attempt."""

    crawler: str
    verdict: Verdict
    reason: str
    expected_ms: float | None = None
    """The round trip that the policy expected before it asked, or at the end if it did not."""
    saving_ms: float | None = None
    """What a probe promised to save."""
    rtt_ms: float | None = None
    loss: Loss | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """All that was considered in one attempt."""

    tried: tuple[Considered, ...]
    """The chosen crawler with the reason why the search ended, then those known or asked, in order."""
    rest: Callable[[], list[Considered]] = field(default=list, compare=False, repr=False)
    """Those that were not asked; written when somebody wants to read it, for most accounts are never read."""

    def entries(self) -> list[Considered]:
        """Write all of it."""
        return [*self.tried, *self.rest()]


def account_of(
    attempt: Attempt, settle: Settle, name_of: Callable[[int], str], rest: Callable[[], list[Considered]]
) -> Account:
    """Write down why each crawler was asked or not, the chosen one's reason first."""
    chosen = Considered(
        crawler=name_of(settle.crawler), verdict=Verdict.CHOSEN, reason=settle.reason, rtt_ms=settle.rtt_ms
    )
    known = [
        Considered(crawler=name_of(one), verdict=Verdict.KNOWN, reason=KNOWN, rtt_ms=attempt.samples.get(one))
        for one in attempt.known
    ]
    asked = [
        Considered(
            crawler=name_of(one),
            verdict=Verdict.ASKED,
            reason=attempt.reasons[one],
            rtt_ms=attempt.samples.get(one),
            loss=attempt.losses.get(one),
        )
        for one in attempt.asked
    ]
    return Account((chosen, *known, *asked), rest)
