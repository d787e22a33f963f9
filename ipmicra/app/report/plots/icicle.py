"""Plot: subnets nested in subnets, as wide as their sites are many.

An icicle: each subnet is a box below that of its parent, and as wide as its share of the sites. Nodes come
with parents before children (`SubnetNode.parent`), so one pass from the last to the first adds up counts
without recursion; a hierarchy may be dozens of levels deep.

Colour says who has a subnet. Full colour: it was delegated itself. Pale: all sites in it go to one crawler,
although by several decisions. Grey: several crawlers; a strip below shows their shares.

Siblings too narrow to see share one box with nothing below it, and depth is limited, so that the page stays
small whatever the list.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler, SubnetNode
from ipmicra.app.report.nest import nested_by_prefix
from ipmicra.app.report.plots.axes import plural
from ipmicra.app.report.plots.palette import crawler_role
from ipmicra.app.report.plots.scene import Layer, Rect, Scene, Style, Text, layer, words

WIDTH, ROW, TOP, LEFT, STRIP = 1000.0, 48.0, 4.0, 2.0, 8.0
LETTER = 6.4
"""Pixels a letter takes, about."""


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


@dataclass(slots=True, kw_only=True)
class _Drawing:
    """Boxes drawn so far, by crawler; None is for boxes of several."""

    columns: Columns
    config: ReportConfig
    rects: dict[tuple[int | None, bool], list[Rect]] = field(default_factory=dict)
    texts: list[Text] = field(default_factory=list)
    strips: dict[int, list[Rect]] = field(default_factory=dict)
    """Shares of the crawlers in boxes of several."""
    deepest: int = 0


def draw_icicle(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the nested subnets; None if no site has an address and a crawler."""
    roots = grown(columns.data.tree or nested_by_prefix(columns.data.sites))
    total = sum(root.sites for root in roots)
    if not total:
        return None
    drawing = _Drawing(columns=columns, config=config)
    _row(drawing, roots, (LEFT, (WIDTH - 2 * LEFT) / total), 0)
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


def _row(drawing: _Drawing, boxes: list[Box], at: tuple[float, float], depth: int) -> None:
    """Draw boxes side by side from a position on, scaled in pixels per site; then their contents."""
    x, scale = at
    drawing.deepest = max(drawing.deepest, depth)
    narrow: list[Box] = []
    for box in boxes:
        width = box.sites * scale
        if width < drawing.config.icicle_narrowest:
            narrow.append(box)
            continue
        _box(drawing, box, (x, width), depth)
        if box.children and depth + 1 < drawing.config.icicle_depth:
            _row(drawing, box.children, (x, scale), depth + 1)
        x += width
    if any(box.sites for box in narrow):
        _narrow(drawing, narrow, (x, scale), depth)


def _box(drawing: _Drawing, box: Box, span: tuple[float, float], depth: int) -> None:
    x, width = span
    owner = next(iter(box.crawlers)) if len(box.crawlers) == 1 else None
    rect = Rect(
        x, TOP + depth * ROW, width - min(1.0, width / 5), ROW - 1, _tip(box, drawing.columns.data.crawlers)
    )
    drawing.rects.setdefault((owner, box.node.is_delegated), []).append(rect)
    if owner is None:
        _strip(drawing, box, (x, width - min(1.0, width / 5)), depth)
    for line, text in enumerate((box.node.label, box.node.name or "")):
        fits = int((width - 12) / LETTER)
        if text and fits >= min(len(text), 7):
            cut = text if len(text) <= fits else text[: fits - 1] + "…"
            drawing.texts.append(
                Text(x + 7, TOP + depth * ROW + 18 + 16 * line, cut, size=11.5, is_bold=not line)
            )


def _strip(drawing: _Drawing, box: Box, span: tuple[float, float], depth: int) -> None:
    """Draw the shares of the crawlers at the foot of a box, as far as they can be seen."""
    x, width = span
    for crawler, count in sorted(box.crawlers.items(), key=lambda item: (-item[1], item[0])):
        part = width * count / box.sites
        if part < drawing.config.icicle_narrowest / 2:
            break
        drawing.strips.setdefault(crawler, []).append(
            Rect(x, TOP + (depth + 1) * ROW - 1 - STRIP, part, STRIP)
        )
        x += part


def _narrow(drawing: _Drawing, boxes: list[Box], at: tuple[float, float], depth: int) -> None:
    """Draw all that are too narrow to be seen as one."""
    x, scale = at
    crawlers: Counter[int] = Counter()
    for box in boxes:
        crawlers += box.crawlers
    node = SubnetNode(label=f"{len(boxes):,} small subnets", parent=None)
    together = Box(node, crawlers, sites=crawlers.total(), delegated=sum(box.delegated for box in boxes))
    _box(drawing, together, (x, together.sites * scale), depth)


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
            "subnet",
            crawler=owner,
        )
        for (owner, is_delegated), rects in sorted(drawing.rects.items(), key=lambda item: str(item[0]))
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
