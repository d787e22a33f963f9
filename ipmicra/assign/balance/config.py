"""Every tuning number of load balancing.

[1] Xu, Zhang, Zhang & Fang, IEICE Trans. 2010. [2] Bertsekas, Annals of Operations Research 1988 (auctions).
[3] Exposto, Macedo, Pina, Alves & Rufino 2005.
Where none is cited the number is ours; docs/balance.md says what was measured with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class LbiConfig:
    """Load balancing on INSERT."""

    threshold: float = 11.0
    """Relative task load above which a crawler is overloaded; OT in [1]: 1600 sites over 140 crawlers."""
    hops: int = 3
    """Times that a task is forwarded at most; TTL in [1]."""
    distance_weight: float = 0.0
    """What distance counts beside page load when a neighbour is chosen, up to 1; 0 is LBI."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if not self.threshold >= 0 or self.hops < 0 or not 0 <= self.distance_weight <= 1:
            raise InputError("threshold and hops are at least 0, the weight of distance is between 0 and 1")


LBI_RTT = LbiConfig(distance_weight=0.5)
"""Load and distance count the same, each relative to its mean; [1] gives no weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingConfig:
    """How a free connection chooses among waiting pieces; all weights are in milliseconds per page."""

    stay_ms: float = 60.0
    """What it is worth that a piece is crawled where it was crawled last."""
    long_first: float = 0.1
    """What each step that a piece takes is worth: long ones must start early to end in time."""
    risk: float = 1.0
    """What each step of work counts that is expected to be lost with the crawler."""
    least_lives: int = 10
    """Ended lives that must have been seen before risk counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuctionConfig:
    """Tuning of the assigner; costs are relative to the mean cost of the nearest crawler."""

    step: float = 0.05
    """Least raise of a bid; bounds what the result costs above the best [2]."""
    sample: float = 0.03
    """Part of a large batch that finds the prices for the rest."""
    least_sample: int = 5_000
    """Batches smaller than this are auctioned in one go."""
    batch_step: float = 0.1
    """Least raise of a bid once prices are known from a sample."""
    discount: float = 0.97
    """Prices found by a sample are lowered by this factor, so that none is too high by chance."""
    evenness: float = 1.0
    """Nearness against load: no crawler gets more than 1 ÷ evenness of its fair share. 1 is equal load, 0 the
    nearest crawler, whatever its load. The default has the best goodput in the mean of the worlds that
    docs/balance.md lists."""
    slack: float = 0.05
    """Room above that limit, as a part of it, that every crawler has: sites are indivisible."""
    ahead: float = 0.0
    """Further room of every crawler, in sites of mean size: where sites come one by one, the next ones may
    even out what the first of them did."""
    patience: int = 400
    """Bids per site after which sites that still have no crawler go where most room is left."""
    is_anew: bool = False
    """Whether earlier assignments do not bind: they only count what moves."""
    tolerance: float = 0.1
    """Load above its share at which a crawler gives sites away; more than `slack`, or it never rests."""
    most_moves: float = 1.9
    """Load that a new assignment moves at most, in fair shares of one crawler, besides what must move."""
    gain: float = 0.1
    """Part of its cost that a site must save before a joining crawler draws it away."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if not 0 <= self.evenness <= 1:
            raise InputError(
                f"evenness {self.evenness:g} is not between 0 (nearest crawler) and 1 (equal load)"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCost:
    """Parameters of the time to download pages: equation of [3] with the line of [1]."""

    pipeline_pages: float = 10.0
    """Pages fetched over one persistent connection; L in [3]."""
    bandwidth_bps: float = 1_000_000.0
    """Bits per second between a crawler and a site; [1]."""
    page_bytes: float = 10_000.0
    """Mean size of a page; 10 KB in [1] and [3], read as powers of ten."""
    polite_wait_s: float = 0.1
    """Wait between two connections to a site; [1]."""
    connections: int = 5
    """Connections of a crawler at a time where its capacity does not say; [1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeConfig:
    """How nearness is shown against load."""

    levels: tuple[float, ...] = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.0)
    """Evenness of each point of the curve, equal load first."""
    most_sites: int = 20_000
    """Larger batches show only the two ends: each further point is an auction of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageConfig:
    """How many pages a site is assumed to have."""

    unknown: int = 9_500
    """Pages of a site of which nothing is known while no other site is known either; the mean in [1]."""
    least: int = 1
    most: int = 100_000_000
    """More than this is taken for a mistake and replaced by an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceConfig:
    """How sites are cut."""

    most: int = 4
    """Pieces of one site at most [1], section 5.2."""
    key_share: float = 0.9
    """Part of the pages that the key directories hold together [1], section 5.2."""
    least_pages: int = 2_000
    """Smaller sites stay whole: a piece costs a connection, and gains little."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.most < 1 or not 0 < self.key_share <= 1:
            raise InputError(
                "a site has at least one piece, and key directories hold between 0 and all pages"
            )
