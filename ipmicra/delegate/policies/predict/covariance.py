"""Which crawlers' round trips to one site stray together: learnt from every site, asked for by columns.

How it works
------------
A fleet of n crawlers has a covariance of n × n numbers: eight megabytes for a thousand. Whoever decides about
one site needs little of it: the variances, and a column for each crawler that was asked. So nobody makes it
whole. It is a sum whose parts are kept apart,

    base + factorsᵀ · diag(weights) · factors + line · middle · lineᵀ + a diagonal

of which the first two are the same for all sites (`Within`), and the others are a site's own.

Learning from a site is a step of expectation maximisation. Its mean over all sites so far changes by a matrix
of as many ranks as the site has samples, and one more. These are appended as factors, and worked into a new
base when there is no room left for more. Nothing that was handed out is ever changed, so what is believed of
a site stays as it was when the site came, whatever others teach meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.types import Floats

SMALL = 128
"""A fleet up to this size has its base made anew for each site: that takes no longer than a few columns."""
ROOM = 96
"""Factors that are kept beside the base of a large fleet."""


@dataclass(frozen=True, slots=True)
class Covariance:
    """A covariance between crawlers; never changed."""

    base: Floats
    variances: Floats
    """Its diagonal, of all parts."""
    factors: Floats
    """(factor, crawler)"""
    weights: Floats
    line: Floats | None = None
    """(crawler, 2)"""
    middle: Floats | None = None

    def of_site(
        self, own: Floats | float, line: Floats | None = None, middle: Floats | None = None
    ) -> Covariance:
        """Return this with the parts of one site; `own` is added to the diagonal."""
        variances = self.variances + own
        if line is not None and middle is not None:
            variances += ((line @ middle) * line).sum(axis=1)
        return Covariance(self.base, variances, self.factors, self.weights, line, middle)

    def column(self, crawler: int) -> Floats:
        """Return the covariances of one crawler with all."""
        found: Floats = self.base[crawler].copy()
        if len(self.weights):
            found += (self.weights * self.factors[:, crawler]) @ self.factors
        if self.line is not None and self.middle is not None:
            found += self.line @ (self.middle @ self.line[crawler])
        found[crawler] = self.variances[crawler]
        return found

    def block(self, crawlers: NDArray[np.intp]) -> Floats:
        """Return the covariances of some crawlers with each other."""
        found: Floats = self.base[crawlers[:, None], crawlers]
        if len(self.weights):
            some = self.factors[:, crawlers]
            found += (some.T * self.weights) @ some
        if self.line is not None and self.middle is not None:
            found += self.line[crawlers] @ self.middle @ self.line[crawlers].T
        np.fill_diagonal(found, self.variances[crawlers])
        return found


def dense(covariance: Floats) -> Covariance:
    """Return a covariance that is known as a whole."""
    nothing = np.empty((0, len(covariance)))
    return Covariance(covariance, covariance.diagonal().copy(), nothing, np.empty(0))


class Within:
    """The covariance within a site, as all sites so far taught it."""

    def __init__(self, simple: Floats, trust: float) -> None:
        """Begin with a simple form, which counts as much as `trust` sites."""
        self._simple, self._trust = simple, trust
        self.sites = 0
        """Sites learnt from."""
        self._now = dense(simple)
        self._make_room()

    def _make_room(self) -> None:
        count = len(self._simple)
        room = 0 if count <= SMALL else ROOM
        self._factors, self._weights = np.empty((room, count)), np.empty(room)

    @property
    def now(self) -> Covariance:
        """What is known by now."""
        return self._now

    def add_crawler(self, simple: Floats) -> None:
        """Make room for one more crawler; `simple` is the simple form of all."""
        old = len(self._simple)
        base = simple.copy()
        share = self._trust / (self._trust + self.sites)
        base[:old, :old] = self._now.block(np.arange(old)) + share * (simple[:old, :old] - self._simple)
        self._simple, self._now = simple, dense(base)
        self._make_room()

    def learn(self, crawlers: NDArray[np.intp], inverse: Floats, pull: Floats) -> None:
        """Add the expected products of one site's residuals (one step of expectation maximisation).

        `inverse` is that of the covariance of its samples, `pull` its product with their residuals.
        """
        now, self.sites = self._now, self.sites + 1
        share = 1.0 / (self._trust + self.sites)
        if not len(self._weights):
            reach = now.base[crawlers]
            residual = pull @ reach
            self._now = dense(now.base + share * (residual[:, None] * residual - reach.T @ inverse @ reach))
            return
        reach = np.array([now.column(crawler) for crawler in crawlers.tolist()])
        scales, directions = np.linalg.eigh(inverse)
        weights = share * np.concatenate(([1.0], -scales))
        self._add(np.concatenate((pull[None] @ reach, directions.T @ reach)), weights)

    def _add(self, factors: Floats, weights: Floats) -> None:
        now = self._now
        variances = now.variances + weights @ factors**2
        count, total = len(now.weights), len(now.weights) + len(weights)
        if total > len(self._weights):
            base = now.base + (factors.T * weights) @ factors
            if count:
                base += (now.factors.T * now.weights) @ now.factors
            self._now = Covariance(base, variances, factors[:0], weights[:0])
            self._make_room()
            return
        self._factors[count:total], self._weights[count:total] = factors, weights
        self._now = Covariance(now.base, variances, self._factors[:total], self._weights[:total])
