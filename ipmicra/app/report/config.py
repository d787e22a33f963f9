"""Every number that tunes reports. Sources are numbered in the package's docstring."""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.assign.balance.config import PageCost


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportConfig:
    """How much a report shows. The limits keep the file of a million sites as small as that of 10,000."""

    cost: PageCost = field(default_factory=PageCost)
    within_ms: float = 2.0
    """A site counts as near enough this close to its nearest crawler."""
    max_arcs: int = 320
    """Arcs on the map; the ones with most sites are drawn."""
    arc_degrees: float = 6.0
    """Side of a square, in degrees, within which sites of one crawler share an arc."""
    dot_degrees: float = 2.0
    """Side of a square, in degrees, within which sites of one crawler share a dot."""
    max_dots: int = 800
    """Dots of sites on the map."""
    max_cells: int = 4500
    """Squares of the Hilbert map; with more than that its squares are wider."""
    whole_map_cells: int = 1000
    """Squares of a /12 from which on the Hilbert map shows all of IPv4; below, it shows the blocks in use."""
    map_blocks: int = 36
    """Blocks that the Hilbert map shows instead of all of IPv4."""
    busy_blocks: int = 14
    """Blocks of a first byte listed beside the Hilbert map."""
    tip_organisations: int = 2
    """Organisations named for a square."""
    curve_points: int = 160
    """Points of a curve of shares."""
    last_probes: int = 12
    """Bars of the histogram of probes; more probes share the last one."""
    max_bars: int = 40
    """Crawlers with a bar of their own."""
    max_legend: int = 60
    """Crawlers with a button of their own."""
    icicle_depth: int = 7
    """Levels of the nested subnets."""
    icicle_narrowest: float = 1.6
    """Pixels below which subnets are drawn together."""
    icicle_boxes: int = 1500
    """Subnets that are drawn together or too deep, but that a click on one above them shows."""
    organisation_rows: int = 30
    slowest_rows: int = 200
    """Sites listed because they lose most."""
    site_rows: int = 800
    """Sites listed in all; beside the slowest an even sample in the order given."""
    flagged_rows: int = 200
    """Sites in the lists of anycast and unprobeable ones, and of those without a crawler."""
    longest_text: int = 120
    """Characters of a host's or organisation's name; longer ones are cut."""
