"""Plot: subnets nested in subnets, as wide as their sites are many.

An icicle: each subnet is a box below that of its parent, and as wide as its share of the sites. Nodes come
with parents before children (`SubnetNode.parent`), so one pass from the last to the first adds up counts
without recursion; a hierarchy may be dozens of levels deep.

Colour says who has a subnet. Full colour: it was delegated itself. Pale: all sites in it go to one crawler,
although by several decisions. Grey: several crawlers; a strip below shows their shares.

Siblings too narrow to see share one box with nothing below it, and depth is limited, so that the page stays
small whatever the list. A click on a subnet shows it as wide as the page: for this each box carries its span
(first site, sites, depth), and the largest of those that were left out are in the page, hidden. The script
only scales; which subnets there are and in what order is decided here.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler, SubnetNode
from ipmicra.app.report.nest import nested_by_prefix
from ipmicra.app.report.plots.palette import crawler_role
from ipmicra.app.report.plots.scene import Layer, Rect, Scene, Style, Text, layer, words
from ipmicra.model.quantities import plural

WIDTH, ROW, TOP, LEFT, STRIP = 1000.0, 54.0, 4.0, 2.0, 8.0
LETTER = 6.7
"""Pixels a letter takes, about."""
FEWEST_LETTERS = 7
"""A longer name is cut, but not to fewer letters."""
SLIM, SLIM_SIZE, SLIM_LETTERS = 13.0, 9.5, 7
"""Pixels a box must be wide for an upright label, its size, and the letters that fit."""


@dataclass(slots=True)
class Box:
    """A subnet with everything below it."""

    node: SubnetNode
    crawlers: Counter[int] = field(default_factory=Counter)
    children: list[Box] = field(default_factory=list)
    sites: int = 0
    delegated: int = 0
    """Delegated subnets in it, itself included."""


def grown(nodes: tuple[SubnetNode, ...]) -> list[Box]:
    """Add up the sites below each subnet; return the roots."""
    boxes = [Box(node, Counter(dict(node.crawlers)), delegated=int(node.is_delegated)) for node in nodes]
    roots: list[Box] = []
    for i in range(len(nodes) - 1, -1, -1):
        box, above = boxes[i], nodes[i].parent
        box.sites = box.crawlers.total()
        box.children.sort(key=lambda child: (-child.sites, child.node.label))
        if above is None:
            roots.append(box)
        else:
            boxes[above].children.append(box)
            boxes[above].crawlers += box.crawlers
            boxes[above].delegated += box.delegated
    return sorted(roots, key=lambda box: (-box.sites, box.node.label))


def brief(label: str) -> str:
    """Shorten a prefix to its last part: 10.1.36.0/22 to .36/22, 2001:db8:40::/48 to :40/48."""
    found = re.fullmatch(r"(?:[\da-f.:]*?([.:]))??([\da-f]+)(?:\.0|::)*/(\d+)", label)
    return f"{found[1] or ''}{found[2]}/{found[3]}" if found else label


@dataclass(slots=True, kw_only=True)
class _Drawing:
    """Boxes drawn so far, by crawler; None is for boxes of several."""

    columns: Columns
    config: ReportConfig
    scale: float
    """Pixels per site."""
    rects: dict[tuple[int | None, bool, str], list[Rect]] = field(default_factory=dict)
    """By crawler, whether they were delegated, and kind."""
    texts: list[Text] = field(default_factory=list)
    strips: dict[int, list[Rect]] = field(default_factory=dict)
    """Shares of the crawlers in boxes of several."""
    left_out: list[tuple[int, int, int, Box]] = field(default_factory=list)
    """Boxes too narrow or too deep: minus their sites, first site, depth."""
    deepest: int = 0


def draw_icicle(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the nested subnets; None if no site has an address and a crawler."""
    roots = grown(columns.data.tree or nested_by_prefix(columns.data.sites))
    total = sum(root.sites for root in roots)
    if not total:
        return None
    drawing = _Drawing(columns=columns, config=config, scale=(WIDTH - 2 * LEFT) / total)
    _row(drawing, roots, 0, 0)
    _hidden(drawing)
    delegated = sum(root.delegated for root in roots)
    return Scene(
        name="subnets",
        title="Nested subnets by crawler",
        alt=f"Nested subnets above {plural(total, 'site')}; {plural(delegated, 'subnet')} delegated; "
        "each as wide as its sites are many, in the colour of its crawler, grey where several share it.",
        width=WIDTH,
        height=TOP * 2 + ROW * (drawing.deepest + 1),
        layers=(*_boxes(drawing), words(drawing.texts, "ink", "box")),
    )


def _row(drawing: _Drawing, boxes: list[Box], start: int, depth: int) -> None:
    """Draw boxes side by side from a site on; then their contents."""
    drawing.deepest = max(drawing.deepest, depth)
    narrow: list[Box] = []
    for box in boxes:
        if box.sites * drawing.scale < drawing.config.icicle_narrowest:
            narrow.append(box)
            continue
        _box(drawing, box, (start, depth), "subnet")
        if depth + 1 < drawing.config.icicle_depth:
            if box.children:
                _row(drawing, box.children, start, depth + 1)
        else:
            drawing.left_out += _placed(box.children, start, depth + 1)
        start += box.sites
    if any(box.sites for box in narrow):
        drawing.left_out += _placed(narrow, start, depth)
        _narrow(drawing, narrow, (start, depth))


def _placed(boxes: list[Box], start: int, depth: int) -> Iterator[tuple[int, int, int, Box]]:
    """Assign each of some neighbours its first site."""
    for box in boxes:
        if box.sites:
            yield -box.sites, start, depth, box
        start += box.sites


def _hidden(drawing: _Drawing) -> None:
    """Add the largest boxes that were left out, each after the one above it."""
    waiting = drawing.left_out
    heapq.heapify(waiting)
    for _ in range(drawing.config.icicle_boxes):
        if not waiting:
            return
        _, start, depth, box = heapq.heappop(waiting)
        _box(drawing, box, (start, depth), "deep")
        for child in _placed(box.children, start, depth + 1):
            heapq.heappush(waiting, child)


def _box(drawing: _Drawing, box: Box, at: tuple[int, int], kind: str) -> None:
    start, depth = at
    owner = next(iter(box.crawlers)) if len(box.crawlers) == 1 else None
    x, width = LEFT + start * drawing.scale, box.sites * drawing.scale
    rect = Rect(
        x,
        TOP + depth * ROW,
        width - min(1.0, width / 5),
        ROW - 1,
        _tip(box, drawing.columns.data.crawlers),
        span=(start, box.sites, depth),
    )
    drawing.rects.setdefault((owner, box.node.is_delegated, kind), []).append(rect)
    if kind == "deep":
        return
    if owner is None:
        _strip(drawing, box, (start, depth))
    drawing.texts += _labels(box.node, rect, width)


def _labels(node: SubnetNode, rect: Rect, width: float) -> Iterator[Text]:
    """Write label and name where they fit; a slim box has the last part of its label, turned."""
    fits = int((width - 12) / LETTER)
    if fits >= min(len(node.label), FEWEST_LETTERS):
        for line, text in enumerate((node.label, node.name or "")):
            cut = text if len(text) <= fits else text[: fits - 1] + "…"
            if cut:
                yield Text(rect.x + 7, rect.y + 18 + 16 * line, cut, size=11.5, is_bold=not line)
    elif width >= SLIM and len(text := brief(node.label)) <= SLIM_LETTERS:
        yield Text(rect.x + width / 2 + 3, rect.y + ROW - STRIP - 4, text, size=SLIM_SIZE, is_upright=False)


def _strip(drawing: _Drawing, box: Box, at: tuple[int, int]) -> None:
    """Draw the shares of the crawlers at the foot of a box, as far as they can be seen."""
    start, depth = at
    for crawler, count in sorted(box.crawlers.items(), key=lambda item: (-item[1], item[0])):
        if count * drawing.scale < drawing.config.icicle_narrowest / 2:
            break
        x, y = LEFT + start * drawing.scale, TOP + (depth + 1) * ROW - 1 - STRIP
        rect = Rect(x, y, count * drawing.scale, STRIP, span=(start, count, depth))
        drawing.strips.setdefault(crawler, []).append(rect)
        start += count


def _narrow(drawing: _Drawing, boxes: list[Box], at: tuple[int, int]) -> None:
    """Draw all that are too narrow to be seen as one."""
    crawlers: Counter[int] = Counter()
    for box in boxes:
        crawlers += box.crawlers
    node = SubnetNode(label=f"{len(boxes):,} small subnets", parent=None)
    together = Box(node, crawlers, sites=crawlers.total(), delegated=sum(box.delegated for box in boxes))
    _box(drawing, together, at, "small")


def _boxes(drawing: _Drawing) -> list[Layer]:
    """Make one layer per crawler; delegated subnets have full colour, those above them a pale one."""
    strips = [
        layer(rects, Style(fill=crawler_role(owner), opacity=0.85), "strip", crawler=owner)
        for owner, rects in sorted(drawing.strips.items())
    ]
    boxes = [
        layer(
            rects,
            Style(
                fill="quiet" if owner is None else crawler_role(owner),
                stroke="line" if owner is None else None,
                opacity=1.0 if owner is None else 0.6 if is_delegated else 0.28,
            ),
            kind if kind == "subnet" else f"subnet {kind}",
            crawler=owner,
            hidden=kind == "deep",
        )
        for (owner, is_delegated, kind), rects in sorted(drawing.rects.items(), key=lambda item: str(item[0]))
    ]
    return [*boxes, *strips]


def _tip(box: Box, crawlers: tuple[ReportCrawler, ...]) -> str:
    owners = ", ".join(f"{crawlers[i].name} {count:,}" for i, count in box.crawlers.most_common(4))
    lines = [
        box.node.label,
        *([box.node.name] if box.node.name else []),
        f"{plural(box.sites, 'site')}: {owners}",
    ]
    if box.node.is_delegated:
        lines.append("delegated")
    if box.delegated > box.node.is_delegated:
        lines.append(f"{plural(box.delegated - box.node.is_delegated, 'delegated subnet')} inside")
    return "\n".join(lines)
