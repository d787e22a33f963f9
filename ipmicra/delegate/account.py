"""Why each crawler was asked or not: what `explain` tells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.model.sample import Loss


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
