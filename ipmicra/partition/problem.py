"""The input of every partitioning method, and its result: a column of crawlers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.partition.config import CostConfig, HashConfig, MetisConfig
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.links.table import LinkTable
from ipmicra.partition.sites import SiteTable

if TYPE_CHECKING:
    from ipmicra.partition.methods.two_level import KeptTable

Column: TypeAlias = NDArray[np.int32]
"""For each site the number of its crawler, from 0 on."""


class Decider(Protocol):
    """A delegator that finds crawlers for the sites of a problem by probes of its own."""

    def decide(self, problem: Problem) -> Column:
        """Return the crawler of each site, starting with nothing delegated."""

    def decide_again(self, before: Problem, after: Problem) -> Column:
        """Continue from what `decide` returned for the fleet before: the last crawler has joined, or left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Sites to partition among crawlers."""

    sites: SiteTable
    crawlers: CrawlerTable
    links: LinkTable | None = None
    rtt_ms: NDArray[np.float64] | None = None
    """True round trips, a row per site, a column per crawler; not a number where a probe is lost."""
    decider: Decider | None = None
    """A delegator that can probe these sites."""
    logical: KeptTable | None = None
    """The table of `two-level` and `subsite` as it was kept; they make one of their own without it."""
    seed: int = 0
    """For methods that draw random numbers: the same seed gives the same parts."""
    costs: CostConfig = field(default_factory=CostConfig)
    metis: MetisConfig = field(default_factory=MetisConfig)
    hashes: HashConfig = field(default_factory=HashConfig)

    def __post_init__(self) -> None:
        """Refuse round trips of other sites or crawlers."""
        if self.rtt_ms is not None and self.rtt_ms.shape != (len(self.sites), len(self.crawlers)):
            raise InputError("round trips need a row for each site and a column for each crawler")

    @property
    def parts(self) -> int:
        """How many crawlers there are."""
        return len(self.crawlers)

    def first(self, count: int) -> Problem:
        """Return the problem of the crawlers that joined first."""
        return self.among(range(count))

    def among(self, numbers: Sequence[int]) -> Problem:
        """Return the problem of some of the crawlers."""
        chosen = np.array(numbers, np.int64)
        rtt_ms = None if self.rtt_ms is None else self.rtt_ms[:, chosen]
        return replace(self, crawlers=self.crawlers.taken(chosen), rtt_ms=rtt_ms)
