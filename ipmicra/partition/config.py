"""Every number that tunes partitioning and its costs. Papers are numbered in the package's docstring."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.partition.sites import Grain


class Relocation(StrEnum):
    """Whose time relocation counts."""

    RECEIVED = "received"
    """Pages that a crawler gets from the others: the wording of [1]."""
    SENT = "sent"
    """Pages that a crawler hands over to the others, as equation 3 counts links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostConfig:
    """Parameters of the three time equations; defaults are those of [1] unless said otherwise."""

    pipeline_pages: float = 10.0
    """L: pages fetched over one persistent connection."""
    bandwidth_bps: float = 16_000.0
    """BW: bits per second between a crawler and a site, and between two crawlers."""
    page_bytes: float = 10_000.0
    """ps: mean size of a page; 10 KB, read as powers of ten."""
    polite_wait_s: float = 15.0
    """PT: seconds between two connections to the same site."""
    connections: float = 10.0
    """N: connections of a crawler at a time; shared out by capacity where capacities differ."""
    url_bytes: float = 40.0
    """su: mean size of a URL."""
    links_per_page: float = 10.0
    """Links on a page; [6] by way of [1]."""
    leaving_share: float = 0.1
    """Share of a page's links that lead to another site; [1]."""
    same_scope: float = 0.5
    """p: probability that a page belongs where its site stands; [1] varies it from 0 to 1."""
    relocation: Relocation = Relocation.RECEIVED
    base_rtt_ms: float = 5.0
    """Round trip to a place next door. Ours; only used where no round trip is known."""
    rtt_ms_per_km: float = 0.02
    """Round trip by distance: 0.01 ms per km there and back at two thirds of the speed of light, doubled
    because cables make detours. Ours; only used where no round trip is known."""
    unknown_rtt_ms: float = 100.0
    """Round trip where neither it nor a distance is known, and for lost probes. Ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HashConfig:
    """Tuning of the family of hashes."""

    logical_crawlers: int = 4096
    """Entries of the table of [2]; many times the number of crawlers, so that each gets an even share."""
    replicas: int = 200
    """Points of a crawler of mean capacity on the circle of [3]; 200 keep shares within 7 % (1/√200)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetisConfig:
    """Tuning of the graphs and of METIS [7]."""

    grain: Grain = Grain.ADDRESS
    """What a vertex is; [1] takes addresses."""
    nearest: int = 12
    """Places that each vertex is joined to; all pairs of [1] would be quadratic."""
    inside: int = 3
    """Vertices of its own place that each vertex is joined to."""
    near_km: float = 25.0
    """Added to distances before they are inverted: within a city and its suburbs nothing is nearer."""
    preference: float = 0.5
    """Weight of distance beside links where both count, 0 to 1."""
    imbalance: float = 0.005
    """How much larger than its share METIS may make a part in one bisection."""
    uneven: float = 0.02
    """How much larger than its share a part may be before another partitioning is tried."""
    link_lean: float = 4.0
    """Extra weight of links in the sum that METIS cuts. In units of its cut a tie between neighbours
    outweighs any link, and the plain sum of [1] neglects links; 4 was best of 1, 2, 4, 8 on invented webs of
    seeds 2 to 4."""
    most_tries: int = 32
    """Seeds of METIS that are tried where both objectives count; the best by its own measure is kept."""
    tried_edges: int = 200_000
    """Edges that tries may cost together: a large graph gets one, and METIS wins little by more there."""
    rounds: int = 4
    """Of improving a partition by two objectives."""
    power: float = 8.0
    """How much the objective that is worst off decides in these rounds; 1 is the plain sum."""
