"""Sites as arrays, and the round trips of the ways that are compared.

How it works
------------
The report compares up to four ways of assigning the same sites: ours, the nearest crawler (the oracle), a
hash of the host name, and a random crawler. With a matrix of true round trips all four follow from it;
without one, whatever columns the loader computed (`Baselines`), as a rule with the delegator's model, are
used, and ways without a column are not shown.

A comparison is fair only over the same sites. So `compared` marks those for which every known way has a
round trip, and curves, mean round trips and pages per hour use these sites only: a lost probe removes a
site from all ways, not from one. A random crawler has no single round trip; all that are known of a site
enter its curve, and share the weight of one site.

`NOBODY` (-1) stands for a missing crawler, country or count, not-a-number for a missing round trip or
place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.data import Milliseconds, ReportData
from ipmicra.model.types import NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Round trips of one way of assigning sites, with the weight of each."""

    name: str
    role: str
    rtt_ms: Milliseconds
    weight: NDArray[np.float64]
    """Adds up to the number of sites compared."""
    is_expected: bool = False
    """Nobody measured these round trips: a model expects them."""

    @property
    def mean_text(self) -> str:
        """The mean as people read it; ≈ if it is expected."""
        return f"{'≈ ' if self.is_expected else ''}{self.mean_ms:.1f} ms"

    @property
    def mean_ms(self) -> float:
        """The mean over sites."""
        return float(np.average(self.rtt_ms, weights=self.weight))

    def share_within(self, limits_ms: Milliseconds) -> NDArray[np.float64]:
        """Return the share of sites within each of several rising limits, 0 to 1."""
        first = np.searchsorted(limits_ms, self.rtt_ms, side="left")
        held = np.bincount(first, self.weight, len(limits_ms) + 1)
        share: NDArray[np.float64] = np.cumsum(held)[:-1] / held.sum()
        return share


def crawler_by_hash(hosts: list[str], crawlers: int) -> NDArray[np.int64]:
    """Pick a crawler for each host as a site hash does: the same on every machine and day."""
    digests = (hashlib.sha256(host.lower().encode("utf-8", "replace")).digest() for host in hosts)
    numbers = np.fromiter((int.from_bytes(digest[:8], "big") for digest in digests), np.uint64, len(hosts))
    return (numbers % np.uint64(crawlers)).astype(np.int64)


def tally(groups: NDArray[np.int64], values: NDArray[np.int64]) -> dict[int, Counter[int]]:
    """Count values by group; in each, values come in rising order."""
    if not len(groups):
        return {}
    base = int(values.max()) + 2  # room for NOBODY
    keys, counts = np.unique(groups * base + values + 1, return_counts=True)
    found: dict[int, Counter[int]] = {}
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        found.setdefault(key // base, Counter())[key % base - 1] = count
    return found


def numbered(texts: Iterable[str | None]) -> tuple[list[str], NDArray[np.int64]]:
    """Number texts in the order of their first occurrence; return them and the number of each."""
    numbers: dict[str, int] = {}
    found = [NOBODY if not text else numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(found, np.int64)


class Columns:
    """The sites of a report, column by column; each is worked out once, when it is asked for."""

    def __init__(self, data: ReportData) -> None:
        """Keep the data."""
        self.data = data
        self.crawlers = len(data.crawlers)

    def __len__(self) -> int:
        """Count the sites."""
        return len(self.data.sites)

    @cached_property
    def crawler(self) -> NDArray[np.int64]:
        """Number of each site's crawler."""
        return self._numbers([site.crawler for site in self.data.sites])

    @cached_property
    def probes(self) -> NDArray[np.int64]:
        """Probes spent on each site."""
        return self._numbers([site.probes for site in self.data.sites])

    @cached_property
    def pages(self) -> NDArray[np.int64]:
        """Pages of each site."""
        return self._numbers([site.pages for site in self.data.sites])

    @cached_property
    def ipv4(self) -> NDArray[np.int64]:
        """Each site's IPv4 address as a number."""
        sites = self.data.sites
        return self._numbers(
            [int(one.address) if isinstance(one.address, IPv4Address) else None for one in sites]
        )

    @cached_property
    def latitude(self) -> NDArray[np.float64]:
        """Degrees north of each site, not-a-number if its place is unknown."""
        return np.array([one.place.latitude if one.place else np.nan for one in self.data.sites], float)

    @cached_property
    def longitude(self) -> NDArray[np.float64]:
        """Degrees east of each site, not-a-number if its place is unknown."""
        return np.array([one.place.longitude if one.place else np.nan for one in self.data.sites], float)

    @cached_property
    def _countries(self) -> tuple[list[str], NDArray[np.int64]]:
        return numbered(one.country or (one.place.country if one.place else None) for one in self.data.sites)

    @property
    def countries(self) -> list[str]:
        """Countries by number."""
        return self._countries[0]

    @property
    def country(self) -> NDArray[np.int64]:
        """Number of each site's country."""
        return self._countries[1]

    @cached_property
    def assigned_ms(self) -> Milliseconds:
        """Round trip to each site's crawler as its assignment says."""
        return np.array([np.nan if site.rtt_ms is None else site.rtt_ms for site in self.data.sites], float)

    @cached_property
    def ours_ms(self) -> Milliseconds:
        """Round trip to each site's crawler: the true one if it is known, else as the assignment says."""
        true = self.data.true_rtt_ms
        if true is None:
            return self.assigned_ms
        rtt_ms: Milliseconds = np.where(
            self.crawler == NOBODY, np.nan, true[self.crawler, np.arange(len(self))]
        )
        return rtt_ms

    @cached_property
    def oracle_ms(self) -> Milliseconds | None:
        """Round trip to each site's nearest crawler."""
        true = self.data.true_rtt_ms
        if true is None:
            return self.data.baselines.oracle_ms
        nearest: Milliseconds = np.where(np.isnan(true), np.inf, true).min(axis=0, initial=np.inf)
        return np.where(np.isinf(nearest), np.nan, nearest)

    @cached_property
    def hash_crawler(self) -> NDArray[np.int64] | None:
        """Crawler that a hash of the host's name picks."""
        if not self.crawlers:
            return None
        return crawler_by_hash([site.host for site in self.data.sites], self.crawlers)

    @cached_property
    def hash_ms(self) -> Milliseconds | None:
        """Round trip to the crawler that a hash picks."""
        if self.data.true_rtt_ms is None or self.hash_crawler is None:
            return self.data.baselines.hash_ms
        picked: Milliseconds = self.data.true_rtt_ms[self.hash_crawler, np.arange(len(self))]
        return picked

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Whether each site can be compared: every way that is known has a round trip for it."""
        known = [self.ours_ms, self.oracle_ms, self.hash_ms]
        if self.data.true_rtt_ms is None:
            known.append(self.data.baselines.random_ms)
        found: NDArray[np.bool_] = np.logical_and.reduce(
            [np.isfinite(one) for one in known if one is not None]
        )
        return found

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The ways that are known, over the sites that all of them can be compared on; ours comes first."""
        if not self.compared.any():
            return ()
        named = [
            (self.data.policy, "ours", None if self.data.is_oracle else self.ours_ms),
            ("nearest", "oracle", self.oracle_ms),
            ("site hash", "hash", self.hash_ms),
        ]
        curves = [self._curve(name, role, rtt_ms) for name, role, rtt_ms in named if rtt_ms is not None]
        return (*curves, *self._random())

    def curve(self, role: str) -> Curve | None:
        """Return one of the curves, by its role: ours, oracle, hash or random."""
        return next((curve for curve in self.curves if curve.role == role), None)

    def _curve(self, name: str, role: str, rtt_ms: Milliseconds) -> Curve:
        picked = rtt_ms[self.compared]
        is_expected = role in {"hash", "random"} and self.data.baselines.is_expected
        return Curve(
            name=name, role=role, rtt_ms=picked, weight=np.ones(len(picked)), is_expected=is_expected
        )

    def _random(self) -> list[Curve]:
        """Any crawler is as likely as any other: all round trips of a site share its weight."""
        true = self.data.true_rtt_ms
        if true is None:
            given = self.data.baselines.random_ms
            return [] if given is None else [self._curve("random", "random", given)]
        true = true[:, self.compared]
        is_known = np.isfinite(true)
        weight = np.broadcast_to(1.0 / is_known.sum(axis=0), true.shape)
        return [Curve(name="random", role="random", rtt_ms=true[is_known], weight=weight[is_known])]

    @staticmethod
    def _numbers(values: list[int | None]) -> NDArray[np.int64]:
        return np.array([NOBODY if value is None else value for value in values], np.int64)
