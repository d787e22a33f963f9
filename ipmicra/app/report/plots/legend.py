"""The key of a plot in a file of its own; in the page the buttons of the legend serve all plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ipmicra.app.report.plots.palette import crawler_form, crawler_role
from ipmicra.app.report.plots.scene import Layer, Mark, Scene, Style, Text, layer, words

LETTER, ROW, MARGIN, SWATCH = 7.4, 20.0, 14.0, 11.0
MOST = 60
"""Crawlers that are named; a plot with more says how many are not."""


def with_key(scene: Scene, names: Sequence[str]) -> Scene:
    """Name the crawlers of a scene below it; a scene that names them itself stays as it is."""
    if any(part.kind == "bar" for part in scene.layers):
        return scene
    shown = sorted({part.crawler for part in scene.layers if part.crawler is not None})
    if not shown:
        return scene
    layers: list[Layer] = []
    x, y = MARGIN, scene.height + ROW
    for number in shown[:MOST]:
        width = SWATCH + 6 + LETTER * len(names[number]) + 14
        if x > MARGIN and x + width > scene.width - MARGIN:
            x, y = MARGIN, y + ROW
        layers += [
            layer(
                [Mark(x + SWATCH / 2, y - SWATCH / 2 + 1, SWATCH / 2, crawler_form(number))],
                Style(fill=crawler_role(number)),
                crawler=number,
            ),
            words([Text(x + SWATCH + 6, y, names[number])], "ink", crawler=number),
        ]
        x += width
    if len(shown) > MOST:
        layers.append(words([Text(MARGIN, y + ROW, f"and {len(shown) - MOST} more")]))
        y += ROW
    return replace(scene, height=y + MARGIN, layers=(*scene.layers, *layers))
