"""What a probe costs: by the fleet, and by how many were used."""

from __future__ import annotations

from math import exp, log

from ipmicra.delegate.config import PredictConfig


class Price:
    """The price of a probe, in ms of expected saving; it rises while more probes are used than wanted."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin with nothing spent."""
        self._config = config
        self.crawlers = config.fleet
        """Size of the fleet."""
        self.overspent = 0.0
        """Probes over the mean that was asked for, since the beginning."""

    def spend(self, probes: int) -> None:
        """Take note of the probes of an attempt."""
        wanted = self._config.mean_probes(self.crawlers)
        if wanted is not None:
            self.overspent += probes - wanted

    @property
    def now_ms(self) -> float:
        """The price now."""
        config, price_ms = self._config, self._config.price_ms(self.crawlers)
        if config.probes_per_site is None or self.overspent <= 0:
            return price_ms
        # Limited before the exponential: long runs overspend so far that it would overflow.
        return price_ms * exp(min(config.price_step * self.overspent, log(config.price_rise)))
