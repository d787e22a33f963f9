"""Every number of the churn experiment. [1] Xu, Zhang, Zhang & Fang 2010, section 5.3.

Where none is cited the number is ours: [1] shows the sizes of its sites and pieces only as plots.
"""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeConfig:
    """How many pages sites have, and how they fall into pieces."""

    mean_pages: float = 15_187_511 / 1_600
    """Pages of a site: all pages of [1] over its sites."""
    spread: float = 1.05
    """Standard deviation of the logarithm of a site's pages; calibrated, see docs/balance.md."""
    least_cut: int = 2_000
    """Smaller sites stay whole: only larger ones are cut in [1]."""
    piece_shares: tuple[float, ...] = (0.4, 0.4, 0.2)
    """How often a larger site falls into 2, 3, 4 pieces; `typically 2 or 3`, four at most, in [1]."""
    evenness: float = 8.0
    """Concentration of the law of the pieces' sizes: directories are of unequal size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnConfig:
    """The experiment; a step is the unit of time."""

    crawlers: int = 140
    sites: int = 1_600
    steps: int = 10_000
    step_ms: float = 20_000.0
    page_bytes: int = 10_000
    bandwidth_mbps: float = 1.0
    """Of one download."""
    polite_wait_ms: float = 100.0
    connections: int = 5
    """Downloads at a time of one crawler."""
    recrawl_steps: int = 500
    """From one submission of a site to the next; a site that is still queued then is cancelled."""
    submission_steps: float = 10.0
    """Number of steps at the start within which all sites are submitted."""
    are_pieces_spread: bool = False
    """Whether a site's pieces are submitted evenly over the interval; in [1] they are not."""
    first_share: float = 0.7
    """Part of the crawlers that are there from the start."""
    joins_per_step: float = 0.1
    """Rate at which the others come."""
    life_steps: tuple[float, float] = (1_000.0, 200.0)
    """Mean and standard deviation of a crawler's life."""
    gap_steps: tuple[float, float] = (600.0, 200.0)
    """Mean and standard deviation of the time until it comes back."""
    landmarks: int = 20
    moved_share: float = 0.05
    """Part of the sites that the bounds of coordinate space move; see docs/overlay.md."""
    sampled_steps: int = 50
    """From one look at queues and loads to the next."""
    enough_crawls: float = 0.75
    """A site counts as crawled often enough from this part of the ideal on: 15 of 20 times."""
    sizes: SizeConfig = SizeConfig()

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if min(self.crawlers, self.sites, self.steps, self.connections, self.recrawl_steps) < 1:
            raise InputError("crawlers, sites, steps, connections and the interval must be at least 1")

    @property
    def fixed_ms(self) -> float:
        """Time of a page beside the round trip, in milliseconds: transfer and polite wait."""
        return self.page_bytes * 8 / self.bandwidth_mbps / 1e3 + self.polite_wait_ms

    @property
    def ideal_crawls(self) -> int:
        """How often every site would be crawled if nothing ever waited too long."""
        return max(1, self.steps // self.recrawl_steps)

    @property
    def submissions(self) -> int:
        """How often every site is submitted, counting one whose interval the end cuts short."""
        return -(-self.steps // self.recrawl_steps)

    def mbps(self, pages: float) -> float:
        """Return the mean rate, in megabits per second, of a number of pages in the whole run."""
        return pages * self.page_bytes * 8 / 1e6 / (self.steps * self.step_ms / 1e3)
