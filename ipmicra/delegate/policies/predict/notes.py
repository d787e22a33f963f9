"""What `predict` knows in the course of an attempt, and what it says of the crawlers that it did not ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.attempt import Considered, Verdict
from ipmicra.delegate.policies.predict.belief import Belief
from ipmicra.delegate.policies.predict.prior import Expectation
from ipmicra.model.crawler import Crawler
from ipmicra.model.types import Floats

EVEN = 0.5
"""A place with a lower chance than this is given up."""


@dataclass(slots=True)
class Notes:
    """What the policy knows in the course of an attempt."""

    prior: Expectation
    belief: Belief
    taken_in: set[int] = field(default_factory=set)
    """Crawlers whose sample the belief has."""
    savings: Floats | None = None
    """Expected saving of a probe by each crawler, when last computed."""
    is_open: bool = False
    """Whether the belief has places elsewhere, too, after those of the prior: the site's own is in doubt."""
    is_misplaced: bool = False
    """There was a place, and the samples say that it is wrong."""
    regret_ms: float = inf
    """What an answer without any sample was expected to lose."""
    source: str = ""
    """Where that place was from."""

    @property
    def is_refuted(self) -> bool:
        """Whether the place is likelier wrong than right, by the samples so far."""
        return self.is_open and float(np.exp(self.belief.scores[: len(self.prior.means)]).sum()) < EVEN

    def give_up(self, prior: Expectation) -> None:
        """Go on without the place, which is wrong; `prior` is what is expected without it."""
        self.prior, self.is_open, self.is_misplaced = prior, False, True

    def why_stop(self, best_ms: float, next_best: int, price_ms: float) -> str:
        """Say why nobody else is asked, by the crawler that a probe would be worth most of."""
        if self.belief.likely().least[:, next_best].min() >= best_ms:
            return "light itself cannot be quicker from any other crawler"
        saving = 0.0 if self.savings is None else self.savings[next_best]
        return f"expected saving of one more probe: {saving:.2f} ms, price {price_ms:.2f} ms"

    def weights(self) -> Floats:
        """Return how likely each place of the prior is by now."""
        scores = self.belief.scores[: len(self.prior.means)]
        weights = np.exp(scores - scores.max())
        found: Floats = weights / weights.sum()
        return found


@dataclass(frozen=True, slots=True)
class Unasked:
    """What is needed to say why each crawler that was not asked was not."""

    notes: Notes
    crawlers: Sequence[Crawler]
    free: NDArray[np.intp]
    best_ms: float | None
    price_ms: float

    def named(self, most: int) -> list[Considered]:
        """Name some of them, those first that a probe would have been worth most of."""
        belief, free = self.notes.belief, self.free
        savings = np.zeros(len(self.crawlers)) if self.notes.savings is None else self.notes.savings
        least = belief.likely().least.min(axis=0)
        first = free[np.argsort(-savings[free], kind="stable")[:most]]
        return [
            Considered(
                crawler=self.crawlers[crawler].name,
                verdict=Verdict.NOT_ASKED,
                reason=_why_not(float(least[crawler]), self.best_ms, savings[crawler], self.price_ms),
                expected_ms=belief.expected_ms(crawler),
                saving_ms=float(savings[crawler]),
            )
            for crawler in first.tolist()
        ]


def _why_not(least_ms: float, best_ms: float | None, saving_ms: float, price_ms: float) -> str:
    if best_ms is not None and least_ms >= best_ms:
        return f"light needs {least_ms:.1f} ms from there"
    return f"expected saving of a probe: {saving_ms:.2f} ms, its price: {price_ms:.2f} ms"
