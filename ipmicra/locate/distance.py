"""From kilometres to milliseconds: the distance source for sites that are located but not probed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ipmicra.locate.config import DistanceConfig
from ipmicra.model.geo import FIBRE_KM_PER_MS, distances_km
from ipmicra.model.types import Floats

_MEDIAN_TO_DEVIATION = 1.4826
"""Median absolute deviation to standard deviation, for a normal spread."""
_ROUNDS = 20
_NEARLY_ZERO = 0.1
"""Residuals below this share of the spread weigh alike."""
_LEAST_MS = 0.05


class DistanceSource:
    """Expected round trips by great-circle distance; learns slope, access time and spread from samples.

    The round trip over `km` is modelled as `access_ms + slope × km / FIBRE_KM_PER_MS`, times a factor whose
    logarithm spreads normally. It starts as configured and moves to what samples say as they come.
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

    def expected_many(self, km: ArrayLike) -> tuple[Floats, Floats]:
        """Return the median round trip in milliseconds and the spread of its logarithm for each distance."""
        away = np.asarray(km, np.float64)
        median = self.access_ms + self.slope * away / FIBRE_KM_PER_MS
        return median, np.full(away.shape, self.log_spread)

    def expected_between(
        self,
        crawlers: Floats,
        sites: Floats,
    ) -> tuple[Floats, Floats]:
        """Return median and spread for all pairs: rows are crawlers (latitude, longitude), columns sites.

        Sites may have a third column, their radius in kilometres, which widens the spread.
        """
        km = distances_km(crawlers[:, None, 0], crawlers[:, None, 1], sites[None, :, 0], sites[None, :, 1])
        median, spread = self.expected_many(km)
        if sites.shape[1] > 2:  # noqa: PLR2004 - there is a radius
            doubt = self.slope * sites[None, :, 2] / FIBRE_KM_PER_MS / 2
            spread = np.hypot(spread, np.log1p(doubt / median))
        return median, spread

    def learn(self, km: ArrayLike, rtt_ms: ArrayLike) -> None:
        """Learn from samples over known distances; what is lost, negative or impossible is left out."""
        away, rtt = np.atleast_1d(np.asarray(km, np.float64)), np.atleast_1d(np.asarray(rtt_ms, np.float64))
        is_sound = np.isfinite(away) & np.isfinite(rtt) & (away >= 0) & (rtt > 0)
        is_sound &= rtt >= away / FIBRE_KM_PER_MS
        self._km = np.concatenate([self._km, away[is_sound]])[-self._keep :]
        self._rtt_ms = np.concatenate([self._rtt_ms, rtt[is_sound]])[-self._keep :]
        if len(self._km):
            self._fit()

    def _fit(self) -> None:
        """Fit the logarithm of round trips robustly; the start counts as some samples.

        Gauss-Newton steps with weights that make it nearly a fit of medians: detours and queues lie on one
        side only.
        """
        config = self._config
        light, rtt = self._km / FIBRE_KM_PER_MS, self._rtt_ms
        fit = np.array([config.access_ms, config.slope])
        spread = config.log_spread
        for _ in range(_ROUNDS):
            fitted = fit[0] + fit[1] * light
            residual = np.log(rtt / fitted)
            spread = max(config.least_spread, _MEDIAN_TO_DEVIATION * float(np.median(np.abs(residual))))
            weight = 1 / np.maximum(np.abs(residual), _NEARLY_ZERO * spread)
            slant = np.stack([1 / fitted, light / fitted], axis=1)
            fit = self._step(fit, slant, residual, weight / weight.mean())
        share = len(rtt) / (len(rtt) + config.prior_samples)
        self.access_ms, self.slope = float(fit[0]), float(fit[1])
        self.log_spread = float(np.sqrt(share * spread**2 + (1 - share) * config.log_spread**2))

    def _step(
        self,
        fit: Floats,
        slant: Floats,
        residual: Floats,
        weight: Floats,
    ) -> Floats:
        """Make one step, pulled towards the start; access time stays positive, the slope above light's."""
        config = self._config
        start = np.array([config.access_ms, config.slope])
        pull = np.diag(config.prior_samples * (slant**2).mean(axis=0))
        normal = slant.T @ (weight[:, None] * slant) + pull
        change = np.linalg.solve(normal, slant.T @ (weight * residual) + pull @ (start - fit))
        moved: Floats = np.maximum(fit + change, [_LEAST_MS, 1.0])
        return moved
