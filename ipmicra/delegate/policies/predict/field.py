"""The model of all sites of one kind: dependence on distance, levels, and covariance between crawlers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.delegate.config import PredictConfig
from ipmicra.delegate.policies.predict.forest import Branch, Forest
from ipmicra.delegate.policies.predict.normal import Normal
from ipmicra.delegate.policies.predict.prior import Outlook
from ipmicra.model.types import Floats

NUGGET = 1e-4
"""Variance of a single sample beside all else; keeps matrices sound."""
MIDDLE = float(np.log(20.0))
"""Logarithm around which the dependence on distance turns."""
SURE = 1e-9


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is believed of a site before any sample of its own, one number a crawler."""

    outlook: Outlook
    branch: Branch
    mean: Floats
    covariance: Floats
    level: Floats
    """The part of the mean that the levels give."""
    variance: Floats
    """How unsure the levels are."""
    sites: int
    """Sites learnt from until then."""

    def belief(self) -> Normal:
        """Return the Gaussian to condition on samples."""
        return Normal(self.mean, self.covariance)


class Field:
    """A Gaussian for every site: prior by distance + levels + what is common to a site and its crawlers.

    The covariance within a site starts from a simple form and follows the samples: for each site the
    expectation of the residuals' products, given what was seen, is added to `prior_sites` times that form.
    """

    def __init__(self, config: PredictConfig, within: Floats) -> None:
        """Begin with the covariance within a site that is expected before any sample."""
        self._config = config
        self.forest = Forest(len(within))
        self._simple = within
        self._products = np.zeros_like(within)
        self._sites = 0
        self._within = within
        self._line = np.zeros(2)
        self._line_covariance = np.diag([config.intercept_spread**2, config.slope_spread**2])

    def __repr__(self) -> str:
        """Say how much was learnt."""
        return f"<Field: {self._sites} sites, {self.forest!r}>"

    @property
    def within(self) -> Floats:
        """The covariance between crawlers within a site."""
        return self._within

    def add_crawler(self, within: Floats) -> None:
        """Make room for one more crawler; `within` is the simple covariance of all."""
        old = len(self._simple)
        self._simple = within
        products = within * self._sites
        products[:old, :old] = self._products
        self._products = products
        self._renew()
        self.forest.add_crawler()

    def expect(self, outlook: Outlook, branch: Branch) -> Expectation:
        """Return what is believed of a site before any sample of its own."""
        level, variance = self.forest.expect(branch)
        line = _line(outlook.mean)
        mean = outlook.mean + line @ self._line + level
        covariance = line @ self._line_covariance @ line.T + self._within
        if outlook.covariance is not None:
            covariance += outlook.covariance
        covariance.flat[:: len(mean) + 1] += variance + NUGGET
        return Expectation(outlook, branch, mean, covariance, level, variance, self._sites)

    def learn(self, prior: Expectation, crawlers: NDArray[np.intp], values: Floats) -> None:
        """Take in the samples of one site, as logarithms; `prior` is what was expected of it."""
        if prior.sites != self._sites:  # other sites taught something meanwhile
            prior = self.expect(prior.outlook, prior.branch)
        seen: Floats = prior.covariance[crawlers[:, None], crawlers]
        inverse: Floats = np.asarray(np.linalg.inv(seen), np.float64)
        pull = inverse @ (values - prior.mean[crawlers])
        self._learn_within(crawlers, inverse, pull)
        self._learn_line(_line(prior.outlook.mean[crawlers]), inverse, pull)
        before = prior.variance[crawlers]
        after = np.maximum(before - before**2 * inverse.diagonal(), SURE)
        centre = prior.level[crawlers]
        precision = np.maximum(1.0 / after - 1.0 / before, 0.0)
        weight = (centre + before * pull) / after - centre / before
        self.forest.learn(prior.branch, crawlers, precision, weight)

    def _learn_within(self, crawlers: NDArray[np.intp], inverse: Floats, pull: Floats) -> None:
        """Add the expected products of one site's residuals (one step of expectation maximisation)."""
        reach = self._within[:, crawlers]
        residual = reach @ pull
        self._products += residual[:, None] * residual + self._within - reach @ inverse @ reach.T
        self._sites += 1
        self._renew()

    def _renew(self) -> None:
        trust = self._config.prior_sites
        self._within = (trust * self._simple + self._products) / (trust + self._sites)

    def _learn_line(self, line: Floats, inverse: Floats, pull: Floats) -> None:
        """Update intercept and slope."""
        reach = self._line_covariance @ line.T
        self._line = self._line + reach @ pull
        self._line_covariance = self._line_covariance - reach @ inverse @ reach.T


def _line(levels: Floats) -> Floats:
    line = np.ones((len(levels), 2))
    line[:, 1] = levels - MIDDLE
    return line
