"""What `predict` knows in the course of an attempt, and what it writes down of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.policies.predict.belief import Normal
from ipmicra.delegate.policies.predict.prior import Expectation
from ipmicra.model.types import Floats


@dataclass(slots=True)
class Notes:
    """What the policy knows in the course of an attempt."""

    prior: Expectation
    belief: Normal
    offset_ms: float
    """Added to round trips before the logarithm."""
    taken_in: set[int] = field(default_factory=set)
    """Crawlers whose sample the belief has."""
    savings: Floats | None = None
    """Expected saving of a probe by each crawler, when last computed."""
    expected: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Expected round trip and saving of those asked."""
    density: float = 0.0
    """Logarithm of the density of the samples taken in."""
    beside: Mapping[int, tuple[float, float]] | None = None
    """If the site may be anywhere: what its neighbours say, a logarithm and its variance for each crawler."""
    is_misplaced: bool = False
    """There was a place, and the samples say that it is wrong."""
    doubt: float = 0.0
    """Chance that the place is wrong, by the samples so far."""
    elsewhere: Notes | None = None
    """What is known if it is wrong; None if that is out of the question."""
    regret_ms: float = inf
    """What an answer without any sample was expected to lose."""
    source: str = ""
    """Where that place was from."""

    def expected_ms(self, crawler: int) -> float:
        """Return the round trip that is expected of a crawler."""
        level = float(self.belief.mean[crawler])
        return max(0.0, float(self.prior.outlook.floors[crawler] + np.exp(level)) - self.offset_ms)


def unasked(
    notes: Notes, names: list[str], free: NDArray[np.intp], best_ms: float | None, price_ms: float
) -> list[Considered]:
    """Say why each crawler that was not asked was not."""
    savings = np.zeros(len(names)) if notes.savings is None else notes.savings
    least = notes.prior.outlook.least
    return [
        Considered(
            crawler=names[crawler],
            verdict=Verdict.NOT_ASKED,
            reason=_why_not(float(least[crawler]), best_ms, savings[crawler], price_ms),
            expected_ms=notes.expected_ms(crawler),
            saving_ms=float(savings[crawler]),
        )
        for crawler in free.tolist()
    ]


def _why_not(least_ms: float, best_ms: float | None, saving_ms: float, price_ms: float) -> str:
    if best_ms is not None and least_ms >= best_ms:
        return f"light needs {least_ms:.1f} ms from there"
    return f"expected saving of a probe: {saving_ms:.2f} ms, its price: {price_ms:.2f} ms"
