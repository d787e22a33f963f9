"""From kilometres to milliseconds: the distance source for sites that are located but not probed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.locate.config import DistanceConfig
from ipmicra.locate.geodesy import distance_km

_MEDIAN_TO_DEVIATION = 1.4826
"""Median absolute deviation to standard deviation, for a normal spread."""
_ROUNDS = 8
_LEAST_MS = 0.05


class DistanceSource:
    """Expected round trips by great-circle distance; learns slope, access time and spread from samples.

    The round trip over `km` is modelled as `access_ms + slope × km × ms_per_km`, times a factor whose logarithm
    spreads normally. It starts as configured and moves to what samples say as they come.
    """

    def __init__(self, config: DistanceConfig | None = None, keep: int = 20_000) -> None:
        """Start as configured; the latest `keep` samples are remembered."""
        self._config = config or DistanceConfig()
        self._keep = keep
        self._km = np.empty(0)
        self._rtt_ms = np.empty(0)
        self.slope = self._config.slope
        """Round trip over that of light in a straight fibre."""
        self.access_ms = self._config.access_ms
        """Round trip of a path of no length."""
        self.log_spread = self._config.log_spread
        """Standard deviation of the logarithm of round trips."""

    def __repr__(self) -> str:
        """Show what was learnt, and from how much."""
        return (
            f"<DistanceSource {self.access_ms:.2f} ms + {self.slope:.2f} × fibre,"
            f" spread {self.log_spread:.2f}, {len(self._km)} samples>"
        )

    def expected_many(self, km: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the median round trip in milliseconds and the spread of its logarithm for each distance."""
        away = np.asarray(km, np.float64)
        median = self.access_ms + self.slope * self._config.ms_per_km * away
        return median, np.full(away.shape, self.log_spread)

    def expected_between(
        self,
        crawlers: NDArray[np.float64],
        sites: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give median and spread for all pairs: rows are crawlers (latitude, longitude), columns sites.

        Sites may have a third column, their radius in kilometres, which widens the spread.
        """
        km = distance_km(crawlers[:, None, 0], crawlers[:, None, 1], sites[None, :, 0], sites[None, :, 1])
        median, spread = self.expected_many(km)
        if sites.shape[1] > 2:  # noqa: PLR2004 - there is a radius
            doubt = self.slope * self._config.ms_per_km * sites[None, :, 2] / 2
            spread = np.hypot(spread, np.log1p(doubt / median))
        return median, spread

    def learn(self, km: ArrayLike, rtt_ms: ArrayLike) -> None:
        """Learn from samples over known distances; what is lost, negative or impossible is left out."""
        away, rtt = np.atleast_1d(np.asarray(km, np.float64)), np.atleast_1d(np.asarray(rtt_ms, np.float64))
        is_sound = np.isfinite(away) & np.isfinite(rtt) & (away >= 0) & (rtt > 0)
        is_sound &= rtt >= away * self._config.ms_per_km
        self._km = np.concatenate([self._km, away[is_sound]])[-self._keep :]
        self._rtt_ms = np.concatenate([self._rtt_ms, rtt[is_sound]])[-self._keep :]
        if len(self._km):
            self._fit()

    def _fit(self) -> None:
        """Fit robustly: relative residuals beyond two spreads count less; the start counts as some samples."""
        config = self._config
        light, rtt = self._km * config.ms_per_km, self._rtt_ms
        access, slope = config.access_ms, config.slope
        for _ in range(_ROUNDS):
            fitted = np.maximum(access + slope * light, _LEAST_MS)
            residual = np.log(rtt / fitted)
            spread = max(config.least_spread, _MEDIAN_TO_DEVIATION * float(np.median(np.abs(residual))))
            weight = np.minimum(1.0, 2 * spread / np.maximum(np.abs(residual), 1e-9)) / fitted**2
            access, slope = self._solve(light, rtt, weight)
        share = len(rtt) / (len(rtt) + config.prior_samples)
        self.access_ms, self.slope = access, slope
        self.log_spread = float(np.sqrt(share * spread**2 + (1 - share) * config.log_spread**2))

    def _solve(
        self, light: NDArray[np.float64], rtt: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[float, float]:
        """Solve weighted least squares with the start as a pull on both parameters; both stay sensible."""
        config = self._config
        pull = config.prior_samples / len(rtt) * weight.sum()
        typical = max(float(np.average(light, weights=weight)), 1.0)
        a = weight.sum() + pull
        b = float(weight @ light)
        c = float(weight @ light**2) + pull * typical**2
        right = (
            float(weight @ rtt) + pull * config.access_ms,
            float(weight @ (light * rtt)) + pull * typical**2 * config.slope,
        )
        access, slope = np.linalg.solve(np.array([[a, b], [b, c]]), np.array(right))
        return max(float(access), _LEAST_MS), max(float(slope), 1.0)
