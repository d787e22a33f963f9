"""Plot: the world with crawlers and arcs to the sites they have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ipmicra.app.report.axes import plural
from ipmicra.app.report.columns import Columns
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler
from ipmicra.app.report.figures import loads
from ipmicra.app.report.palette import crawler_role
from ipmicra.app.report.projection import HEIGHT, WIDTH, great_circle, land, on_map
from ipmicra.app.report.scene import Circle, Layer, Path, Rect, Scene, Style, Text, layer

WIDTHS = (0.7, 1.3, 2.2, 3.4)
"""Pixels of arcs, from those with fewest sites to those with most."""

LETTER, LINE = 7.4, 13.0
"""Pixels that a letter and a line of a name take, about."""


@dataclass(slots=True)
class Bundle:
    """Sites of one crawler that lie close together."""

    crawler: int
    latitude: float = 0.0
    longitude: float = 0.0
    """Sums over the sites, not means."""
    sites: int = 0
    rtt_ms: list[float] = field(default_factory=list)
    countries: Counter[str] = field(default_factory=Counter)

    @property
    def place(self) -> tuple[float, float]:
        """Mean latitude and longitude."""
        return self.latitude / self.sites, self.longitude / self.sites


def bundles(columns: Columns, degrees: float) -> list[Bundle]:
    """Bundle sites by crawler and place, most sites first; ties by crawler and place."""
    found: dict[tuple[int, int, int], Bundle] = {}
    for site, rtt_ms in zip(columns.data.sites, columns.ours_ms, strict=True):
        if site.place is None or site.crawler is None:
            continue
        row, column = int(site.place.latitude // degrees), int(site.place.longitude // degrees)
        bundle = found.setdefault((site.crawler, row, column), Bundle(site.crawler))
        bundle.sites += 1
        bundle.latitude += site.place.latitude
        bundle.longitude += site.place.longitude
        if np.isfinite(rtt_ms):
            bundle.rtt_ms.append(float(rtt_ms))
        if country := site.country or site.place.country:
            bundle.countries[country] += 1
    return [found[key] for key in sorted(found, key=lambda key: (-found[key].sites, key))]


def draw_map(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the map; None if neither a crawler nor a site has a place."""
    found = bundles(columns, config.arc_degrees)
    placed = [i for i, crawler in enumerate(columns.data.crawlers) if crawler.place]
    if not found and not placed:
        return None
    return Scene(
        name="map",
        title="Where crawlers and their sites are",
        alt=_alt(found, placed),
        width=WIDTH,
        height=HEIGHT,
        layers=(
            layer([Rect(0, 0, WIDTH, HEIGHT)], Style(fill="sea")),
            layer([Path(land(), is_closed=True)], Style(fill="land"), "land"),
            *_arcs(columns, found[: config.max_arcs]),
            *_dots(columns, bundles(columns, config.dot_degrees)[: config.max_dots]),
            *_crawlers(columns, placed),
        ),
    )


def shown_share(columns: Columns, config: ReportConfig) -> tuple[int, int]:
    """Count the sites behind the arcs that are drawn, and all sites that have place and crawler."""
    counts = [bundle.sites for bundle in bundles(columns, config.arc_degrees)]
    return sum(counts[: config.max_arcs]), sum(counts)


def _arcs(columns: Columns, found: list[Bundle]) -> list[Layer]:
    """Draw arcs, a layer a crawler and width."""
    most = max((bundle.sites for bundle in found), default=1)
    groups: dict[tuple[int, float], list[Path]] = {}
    for bundle in found:
        crawler = columns.data.crawlers[bundle.crawler]
        if crawler.place is None:
            continue
        step = min(int((bundle.sites / most) ** 0.5 * len(WIDTHS)), len(WIDTHS) - 1)
        lines = great_circle((crawler.place.latitude, crawler.place.longitude), bundle.place)
        groups.setdefault((bundle.crawler, WIDTHS[step]), []).append(Path(lines, _tip(columns, bundle)))
    return [
        layer(
            paths, Style(stroke=crawler_role(number), stroke_width=width, opacity=0.6), "arc", crawler=number
        )
        for (number, width), paths in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
    ]


def _dots(columns: Columns, found: list[Bundle]) -> list[Layer]:
    most = max((bundle.sites for bundle in found), default=1)
    groups: dict[int, list[Circle]] = {}
    for bundle in found:
        x, y = _pixels(*bundle.place)
        radius = 1.4 + 3.2 * (bundle.sites / most) ** 0.5
        groups.setdefault(bundle.crawler, []).append(Circle(x, y, radius, _tip(columns, bundle)))
    return [
        layer(circles, Style(fill=crawler_role(number), opacity=0.8), "dot", crawler=number)
        for number, circles in sorted(groups.items())
    ]


def _crawlers(columns: Columns, placed: list[int]) -> list[Layer]:
    counts = loads(columns)
    layers: list[Layer] = []
    for number in placed:
        crawler = columns.data.crawlers[number]
        x, y = _pixels_of(crawler)
        tip = f"{crawler.name}{_where(crawler)}\n{plural(int(counts[number]), 'site')}"
        ring = Style(fill=crawler_role(number), stroke="card", stroke_width=1.6)
        layers.append(layer([Circle(x, y, 6.2, tip)], ring, "crawler", crawler=number, focusable=True))
    return [*layers, *_names(columns, placed)]


def _names(columns: Columns, placed: list[int]) -> list[Layer]:
    """Write crawlers' names where they cover nothing, right or left of them; those with most sites first."""
    counts = loads(columns)
    at = {number: _pixels_of(columns.data.crawlers[number]) for number in placed}
    taken = [_Area(x - 6, x + 6, y) for x, y in at.values()]
    layers: list[Layer] = []
    for number in sorted(placed, key=lambda i: (-counts[i], i)):
        (x, y), name = at[number], columns.data.crawlers[number].name
        width = LETTER * len(name)
        for area in (_Area(x + 9, x + 9 + width, y), _Area(x - 9 - width, x - 9, y)):
            if area.left >= 0 and area.right <= WIDTH and not any(area.covers(other) for other in taken):
                taken.append(area)
                text = Text(area.left, y + 4, name, size=12, is_bold=True)
                halo = Style(fill="ink", stroke="card", stroke_width=3)
                layers.append(layer([text], halo, "name", crawler=number))
                break
    return layers


@dataclass(frozen=True, slots=True)
class _Area:
    """The line of the map that a name or a crawler takes."""

    left: float
    right: float
    y: float

    def covers(self, other: _Area) -> bool:
        return abs(self.y - other.y) < LINE and self.left < other.right and other.left < self.right


def _pixels_of(crawler: ReportCrawler) -> tuple[float, float]:
    assert crawler.place is not None  # noqa: S101 - only crawlers with a place are drawn
    return _pixels(crawler.place.latitude, crawler.place.longitude)


def _pixels(latitude: float, longitude: float) -> tuple[float, float]:
    x, y = on_map(np.array([latitude]), np.array([longitude]))
    return float(x[0]), min(max(float(y[0]), 4.0), HEIGHT - 4.0)


def _tip(columns: Columns, bundle: Bundle) -> str:
    lines = [
        f"{columns.data.crawlers[bundle.crawler].name} → {plural(bundle.sites, 'site')}"
        + (
            f" in {', '.join(name for name, _ in bundle.countries.most_common(3))}"
            if bundle.countries
            else ""
        )
    ]
    if bundle.rtt_ms:
        lines.append(f"mean {np.mean(bundle.rtt_ms):.1f} ms")
    return "\n".join(lines)


def _where(crawler: ReportCrawler) -> str:
    place = crawler.place
    told = ", ".join(part for part in (place.city, place.country) if part) if place else ""
    return f" ({told})" if told else ""


def _alt(found: list[Bundle], placed: list[int]) -> str:
    sites = sum(bundle.sites for bundle in found)
    return (
        f"World map: {plural(len(placed), 'crawler')} with arcs to {plural(sites, 'site')} "
        f"in {plural(len(found), 'bundle')} of neighbouring sites."
    )
