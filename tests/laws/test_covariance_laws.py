"""A covariance that is kept in parts is the one that is kept whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ipmicra.delegate.policies.predict.covariance import SMALL, Within
from ipmicra.model.types import Floats

TRUST = 8.0


def drawn(rng: np.random.Generator, count: int) -> Floats:
    root = rng.normal(0, 0.3, (count, count))
    found: Floats = root @ root.T / count + 0.05 * np.eye(count)
    return found


class Whole:
    """The same, straight from the formula: expected products of all sites are summed up, and divided."""

    def __init__(self, simple: Floats) -> None:
        self.simple, self.products, self.sites = simple, np.zeros_like(simple), 0

    @property
    def now(self) -> Floats:
        found: Floats = (TRUST * self.simple + self.products) / (TRUST + self.sites)
        return found

    def learn(self, crawlers: NDArray[np.intp], inverse: Floats, pull: Floats) -> None:
        reach = self.now[:, crawlers]
        residual = reach @ pull
        self.products += np.outer(residual, residual) + self.now - reach @ inverse @ reach.T
        self.sites += 1

    def add_crawler(self, simple: Floats) -> None:
        products = simple * self.sites
        products[:-1, :-1] = self.products
        self.simple, self.products = simple, products


@settings(max_examples=8)
@given(
    rng=st.integers(0, 2**32 - 1).map(np.random.default_rng),
    count=st.sampled_from([1, 2, 5, SMALL + 1]),
    steps=st.integers(0, 60),
)
def test_learnt_in_parts_is_learnt_as_a_whole_and_nothing_handed_out_changes(
    rng: np.random.Generator, count: int, steps: int
) -> None:
    simple = drawn(rng, count)
    fast, slow = Within(simple, TRUST), Whole(simple)
    handed_out = []
    for step in range(steps):
        crawlers = rng.permutation(count)[: rng.integers(1, 5)].astype(np.intp)
        seen = slow.now[np.ix_(crawlers, crawlers)] + 0.1 * np.eye(len(crawlers))
        inverse, residuals = np.asarray(np.linalg.inv(seen), np.float64), rng.normal(0, 0.5, len(crawlers))
        fast.learn(crawlers, inverse, inverse @ residuals)
        slow.learn(crawlers, inverse, inverse @ residuals)
        if step == steps // 2:
            simple = drawn(rng, count + 1)
            fast.add_crawler(simple)
            slow.add_crawler(simple)
            count += 1
        if step % 16 == 0:
            handed_out.append((fast.now, slow.now))
    for parts, whole in [*handed_out, (fast.now, slow.now)]:
        everyone = np.arange(len(whole))
        np.testing.assert_allclose(parts.block(everyone), whole, atol=1e-9)
        np.testing.assert_allclose(parts.variances, whole.diagonal(), atol=1e-9)
        line, middle = rng.normal(0, 1, (len(whole), 2)), drawn(rng, 2)
        of_site, one = parts.of_site(0.3, line, middle), int(rng.integers(len(whole)))
        expected = whole + line @ middle @ line.T + 0.3 * np.eye(len(whole))
        np.testing.assert_allclose(of_site.column(one), expected[:, one], atol=1e-9)
        np.testing.assert_allclose(of_site.block(everyone), expected, atol=1e-9)
