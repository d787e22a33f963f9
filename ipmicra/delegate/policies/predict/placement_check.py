"""Whether a place is wrong: samples under the prior of the place and under the location-free prior."""

from __future__ import annotations

from math import lgamma, log, log1p, pi

from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.normal import Normal

NARROWEST = 0.5
"""No expectation without a place is narrower than this, in logarithms: a bound, to save its making."""


class PlacementCheck:
    """Counts wrong places, and weighs one site's samples.

    Densities are those of a Student distribution, so that one detour does not refute a place.
    """

    def __init__(self, config: PredictConfig) -> None:
        """Begin with the share that is expected before any sample."""
        self._config = config
        self._tail = config.tail
        self._constant = lgamma((self._tail + 1) / 2) - lgamma(self._tail / 2) - 0.5 * log(self._tail * pi)
        self._sites = 0
        self._wrong = 0

    def __repr__(self) -> str:
        """Say what was counted."""
        return f"<PlacementCheck: {self._wrong} of {self._sites} places wrong>"

    def learn(self, *, is_wrong: bool) -> None:
        """Count a site that had a place and was sampled."""
        self._sites += 1
        self._wrong += is_wrong

    @property
    def share(self) -> float:
        """Share of places that are wrong, by what was expected and seen."""
        trust = self._config.places_trusted
        return (trust * self._config.misplaced + self._wrong) / (trust + self._sites)

    @property
    def seen_share(self) -> float:
        """The same by what was seen alone: nil until the first wrong place."""
        return self._wrong / (self._config.places_trusted + self._sites)

    def density(self, belief: Normal, crawler: int, value: float) -> float:
        """Return the logarithm of the density of a round trip whose shifted logarithm is `value`."""
        variance = float(belief.covariance[crawler, crawler])
        deviation = value - float(belief.mean[crawler])
        surprise = log1p(deviation * deviation / (variance * self._tail))
        return self._constant - 0.5 * log(variance) - 0.5 * (self._tail + 1) * surprise - value

    def most(self, values: list[float]) -> float:
        """Return the highest density that no place could give to such values."""
        return len(values) * (self._constant - log(NARROWEST)) - sum(values)

    def is_wrong(self, placed: float, unplaced: float) -> bool:
        """Return whether a wrong place is likelier than a right one, by the logarithms of both densities."""
        share = self.share
        return unplaced + log(share) > placed + log(1.0 - share) if share < 1.0 else True
