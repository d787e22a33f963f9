"""What a probe costs."""

from __future__ import annotations

from math import exp, log

from ipmicra.delegate.config import PredictConfig, mean_probes, price_ms_of


class Price:
    """The price of a probe, in ms of expected saving; it rises while more probes are used than wanted."""

    def __init__(self, config: PredictConfig) -> None:
        """Begin with nothing spent."""
        self._config = config
        self.overspent = 0.0
        """Probes over the mean that was asked for, since the beginning."""
        self.set_fleet(config.fleet)

    def set_fleet(self, crawlers: int) -> None:
        """Take note of the size of the fleet."""
        self._least_ms = price_ms_of(self._config, crawlers)
        self._wanted = mean_probes(self._config, crawlers)

    def spend(self, probes: int) -> None:
        """Take note of the probes of an attempt."""
        if self._wanted is not None:
            self.overspent += probes - self._wanted

    @property
    def now_ms(self) -> float:
        """The price now."""
        if self._wanted is None or self.overspent <= 0:
            return self._least_ms
        # Limited before the exponential: long runs overspend so far that it would overflow.
        config = self._config
        return self._least_ms * exp(min(config.price_step * self.overspent, log(config.price_rise)))
