"""Plot: the IPv4 space along a Hilbert curve, each square in the colour of its crawler.

The curve visits every square of a grid once, and its neighbours are neighbours on the grid: a prefix, which
is a stretch of addresses, becomes one square (even length) or two beside each other. On a grid of 2^n
squares per side a square is a prefix of length 2n: order 4 shows /8, order 6 /12, order 7 /14.

Where most of the space is empty, the map is cut into the blocks in use (`blocks.py`), each a square of the
curve that is drawn as large as the others.

Why not rows of addresses, as in a table? There a /14 would be a thin line, and two prefixes that differ in
the last bit of the row could be at opposite edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.report.columns import Columns, numbered, tally
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.plots.blocks import BITS, Block, blocks_in_use
from ipmicra.app.report.plots.palette import crawler_role
from ipmicra.app.report.plots.scene import Layer, Path, Rect, Scene, Style, Text, layer, words
from ipmicra.model.quantities import plural
from ipmicra.model.types import NOBODY

SIDE = 640.0
MARGIN = 26.0
COARSE, FINE = 6, 7
"""Orders of the curve: 64 × 64 squares of a /12 each, 128 × 128 of a /14."""
EIGHTS = 4
"""Order at which a square is a /8."""
LETTER, LABEL, GAP = 5.9, 10.0, 10.0
"""Pixels of a letter, the size of a block's name, and the pixels between blocks."""
FEWEST_ACROSS = 3
"""Blocks in a row: a single one need not fill the page."""
RESERVED = (*range(224, 256), 0, 10, 127)
"""First bytes that no public site has: multicast, future use, this network, private, loopback."""


def hilbert_point(distance: NDArray[np.int64], order: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return column and row of places along the curve on a grid of 2^order squares per side.

    Order 1 goes 0 → (0, 0), 1 → (0, 1), 2 → (1, 1), 3 → (1, 0); each further order puts such a cup into each
    square, turned so that the ends meet.
    """
    rest = distance.astype(np.int64).copy()
    x, y = np.zeros_like(rest), np.zeros_like(rest)
    for level in range(order):
        size = 1 << level
        right = rest >> 1 & 1
        down = (rest ^ right) & 1
        turned = down == 0
        flipped = turned & (right == 1)
        x, y = np.where(flipped, size - 1 - x, x), np.where(flipped, size - 1 - y, y)
        x, y = np.where(turned, y, x), np.where(turned, x, y)
        x, y = x + size * right, y + size * down
        rest >>= 2
    return x, y


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What is in one square."""

    sites: int
    crawlers: Counter[int]
    organisations: Counter[str]
    subnets: Counter[str]


def shown_sites(columns: Columns) -> NDArray[np.int64]:
    """Return the numbers of the sites with an IPv4 address and a crawler."""
    return np.flatnonzero((columns.ipv4 != NOBODY) & (columns.crawler != NOBODY))


def cells_of(columns: Columns, order: int, at: NDArray[np.int64] | None = None) -> dict[int, Cell]:
    """Count sites with an IPv4 address and a crawler, or some of them, by their square."""
    at = shown_sites(columns) if at is None else at
    square = columns.ipv4[at] >> BITS - 2 * order
    sites = [columns.data.sites[i] for i in at.tolist()]
    crawlers = tally(square, columns.crawler[at])
    holders = _named(square, (site.organisation for site in sites))
    subnets = _named(square, (site.subnet.label if site.subnet else None for site in sites))
    return {
        number: Cell(
            sites=own.total(),
            crawlers=own,
            organisations=holders.get(number, Counter()),
            subnets=subnets.get(number, Counter()),
        )
        for number, own in crawlers.items()
    }


def _named(square: NDArray[np.int64], texts: Iterable[str | None]) -> dict[int, Counter[str]]:
    """Count texts by square."""
    names, numbers = numbered(texts)
    is_known = numbers != NOBODY
    counts = tally(square[is_known], numbers[is_known])
    return {number: Counter({names[i]: count for i, count in own.items()}) for number, own in counts.items()}


def choose_order(columns: Columns, config: ReportConfig) -> int | None:
    """Choose the grid of the whole map; None if so little of it is filled that blocks are shown instead.

    The finer grid is taken where it is not filled so much that the file grows large.
    """
    addresses = columns.ipv4[shown_sites(columns)]
    if len(np.unique(addresses >> BITS - 2 * COARSE)) < config.whole_map_cells:
        return None
    squares = len(np.unique(addresses >> BITS - 2 * FINE))
    return FINE if squares <= config.max_cells else COARSE


def draw_hilbert(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the map; None if no site has an IPv4 address and a crawler."""
    at = shown_sites(columns)
    if not len(at):
        return None
    order = choose_order(columns, config)
    if order is None:
        return _draw_blocks(columns, config, at)
    drawing = _Drawing(columns, config)
    drawing.add(Block(0, 0, order), at, (MARGIN, MARGIN, SIDE))
    return Scene(
        name="hilbert",
        title="IPv4 space by crawler",
        alt=f"Hilbert map of IPv4: {drawing.summary(order * 2)}",
        width=SIDE + 2 * MARGIN,
        height=SIDE + 2 * MARGIN,
        layers=(*_ground(), *_eights(), *drawing.layers(), *_edges()),
    )


def _draw_blocks(columns: Columns, config: ReportConfig, at: NDArray[np.int64]) -> Scene:
    """Draw the blocks in use side by side, in the order of addresses."""
    blocks = blocks_in_use(columns.ipv4[at], config.map_blocks)
    across = max(FEWEST_ACROSS, int(np.ceil(np.sqrt(len(blocks)))))
    side = (SIDE + GAP) / across - GAP
    drawing = _Drawing(columns, config)
    grounds: list[Rect] = []
    names: list[Text] = []
    for i, block in enumerate(blocks):
        x, y = (side + GAP) * (i % across), (side + GAP + LABEL) * (i // across)
        name = f"{IPv4Address(block.first)}/{block.length}"
        grounds.append(Rect(x, y + LABEL + 3, side, side, find=name, tip=name))
        names.append(Text(x, y + LABEL, name, size=min(LABEL + 2, LABEL * side / (LETTER * len(name)))))
        inside = at[columns.ipv4[at] >> BITS - block.length == block.first >> BITS - block.length]
        drawing.add(block, inside, (x, y + LABEL + 3, side))
    rows = -(-len(blocks) // across)
    return Scene(
        name="hilbert",
        title="IPv4 space by crawler",
        alt=f"Hilbert maps of {plural(len(blocks), 'block')} of IPv4 in use: {drawing.summary(None)}",
        width=SIDE,
        height=rows * (side + GAP + LABEL),
        layers=(
            layer(grounds, Style(fill="quiet"), "ground"),
            words(names, "muted", "block"),
            *drawing.layers(),
        ),
    )


@dataclass(slots=True)
class _Drawing:
    """Squares drawn so far, by the crawler that has most of their sites."""

    columns: Columns
    config: ReportConfig
    groups: dict[int, list[Rect]] = field(default_factory=dict)
    mixed: int = 0
    """Squares with sites of several crawlers."""

    def add(self, block: Block, at: NDArray[np.int64], box: tuple[float, float, float]) -> None:
        """Draw some sites in a block at a place (x, y, side)."""
        left, top, whole = box
        side = whole / (1 << block.order)
        cells = cells_of(self.columns, block.bits // 2, at)
        numbers = np.array(sorted(cells), np.int64)
        xs, ys = hilbert_point(numbers - (block.first >> BITS - block.bits), block.order)
        for number, x, y in zip(numbers.tolist(), xs, ys, strict=True):
            cell = cells[number]
            prefix = f"{IPv4Address(number << BITS - block.bits)}/{block.bits}"
            tip = _tip(prefix, cell, self.columns, self.config)
            rect = Rect(left + x * side, top + y * side, side, side, tip, prefix)
            self.groups.setdefault(cell.crawlers.most_common(1)[0][0], []).append(rect)
            self.mixed += len(cell.crawlers) > 1

    def layers(self) -> list[Layer]:
        """Make one layer per crawler."""
        return [
            layer(rects, Style(fill=crawler_role(owner)), "cell", crawler=owner)
            for owner, rects in sorted(self.groups.items())
        ]

    def summary(self, bits: int | None) -> str:
        """Say in words what is drawn."""
        count = sum(map(len, self.groups.values()))
        of = "" if bits is None else f" of a /{bits}"
        return (
            f"{plural(len(shown_sites(self.columns)), 'site')} in {plural(count, 'square')}{of}, each in the "
            f"colour of the crawler with most of its sites; {self.mixed:,} have sites of several crawlers."
        )


def _tip(prefix: str, cell: Cell, columns: Columns, config: ReportConfig) -> str:
    names = columns.data.crawlers
    owners = ", ".join(f"{names[i].name} {count:,}" for i, count in cell.crawlers.most_common(3))
    lines = [prefix, f"{plural(cell.sites, 'site')}: {owners}"]
    most = cell.organisations.most_common(config.tip_organisations)
    if most:
        more = len(cell.organisations) - len(most)
        text = ", ".join(name[:48] for name, _ in most)
        lines.append(text + (f" and {more} more" if more else ""))
    if len(cell.subnets) == 1:
        lines.append(f"subnet {next(iter(cell.subnets))}")
    elif cell.subnets:
        lines.append(plural(len(cell.subnets), "subnet"))
    return "\n".join(lines)


def _ground() -> list[Layer]:
    side = SIDE / (1 << EIGHTS)
    xs, ys = hilbert_point(np.array(RESERVED), EIGHTS)
    reserved = [Rect(MARGIN + x * side, MARGIN + y * side, side, side) for x, y in zip(xs, ys, strict=True)]
    return [
        layer([Rect(MARGIN, MARGIN, SIDE, SIDE)], Style(fill="sea")),
        layer(reserved, Style(fill="quiet")),
    ]


def _eights() -> list[Layer]:
    """Draw the border of every /8 with its first byte."""
    side = SIDE / (1 << EIGHTS)
    ends = [MARGIN + i * side for i in range((1 << EIGHTS) + 1)]
    far = MARGIN + SIDE
    grid = Path((*(((e, MARGIN), (e, far)) for e in ends), *(((MARGIN, e), (far, e)) for e in ends)))
    xs, ys = hilbert_point(np.arange(256), EIGHTS)
    labels = [
        Text(MARGIN + x * side + 3, MARGIN + y * side + 11, str(byte), size=9.5)
        for byte, (x, y) in enumerate(zip(xs, ys, strict=True))
    ]
    return [layer([grid], Style(stroke="line", stroke_width=0.8), "grid"), words(labels, "muted", "byte")]


def _edges() -> list[Layer]:
    """Say at the edges where the curve starts and ends, and what a square is."""
    far, middle = MARGIN + SIDE, MARGIN + SIDE / 2
    texts = [
        Text(MARGIN, MARGIN - 9, "0.0.0.0 starts here", size=12),
        Text(far, MARGIN - 9, "255.255.255.255 ends here", size=12, anchor="end"),
        Text(
            middle,
            far + 18,
            "each numbered square is a /8; its number is the first byte",
            size=12,
            anchor="middle",
        ),
        Text(
            MARGIN - 9,
            middle,
            "neighbours on the map are neighbours in address",
            size=12,
            anchor="middle",
            is_upright=False,
        ),
    ]
    return [words(texts, "muted", "edge")]
