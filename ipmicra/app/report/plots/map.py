"""Plot: the world with crawlers and arcs to the sites they have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.app.report.columns import Columns, tally
from ipmicra.app.report.config import ReportConfig
from ipmicra.app.report.data import ReportCrawler
from ipmicra.app.report.figures import loads
from ipmicra.app.report.plots.palette import crawler_form, crawler_role
from ipmicra.app.report.plots.projection import HEIGHT, WIDTH, great_circle, land, on_map
from ipmicra.app.report.plots.scene import Circle, Layer, Mark, Path, Rect, Scene, Style, Text, layer
from ipmicra.model.quantities import plural
from ipmicra.model.types import NOBODY

WIDTHS = (0.7, 1.3, 2.2, 3.4)
"""Pixels of arcs, from those with fewest sites to those with most."""

LETTER, LINE = 7.4, 13.0
"""Pixels that a letter and a line of a name take, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Sites of one crawler that lie close together."""

    crawler: int
    place: tuple[float, float]
    """Mean latitude and longitude."""
    sites: int
    mean_ms: float
    """Mean round trip; not-a-number if none is known."""
    countries: tuple[str, ...]
    """Those with most sites."""


def bundles(columns: Columns, degrees: float, most: int) -> list[Bundle]:
    """Bundle sites by crawler and place; return those with most sites, ties by crawler and place."""
    at = np.flatnonzero(np.isfinite(columns.latitude) & (columns.crawler != NOBODY))
    row = np.floor(columns.latitude[at] / degrees).astype(np.int64)
    column = np.floor(columns.longitude[at] / degrees).astype(np.int64)
    # One number per crawler and cell of the grid; rows and columns are at most 180 ÷ degrees away from 0.
    keys, number = np.unique((columns.crawler[at] << 40) + (row << 20) + column, return_inverse=True)
    sites = np.bincount(number, minlength=len(keys))
    north, east = (
        np.bincount(number, value[at], len(keys)) for value in (columns.latitude, columns.longitude)
    )
    is_known = np.isfinite(columns.ours_ms[at])
    answers = np.bincount(number[is_known], minlength=len(keys))
    total_ms = np.bincount(number[is_known], columns.ours_ms[at][is_known], len(keys))
    owner = np.zeros(len(keys), np.int64)
    owner[number] = columns.crawler[at]
    countries = tally(number, columns.country[at])
    return [
        Bundle(
            crawler=int(owner[i]),
            place=(float(north[i] / sites[i]), float(east[i] / sites[i])),
            sites=int(sites[i]),
            mean_ms=float(total_ms[i] / answers[i]) if answers[i] else np.nan,
            countries=tuple(
                columns.countries[code] for code, _ in countries[i].most_common(4) if code != NOBODY
            )[:3],
        )
        for i in np.argsort(-sites, kind="stable")[:most].tolist()
    ]


def draw_map(columns: Columns, config: ReportConfig) -> Scene | None:
    """Draw the map; None if neither a crawler nor a site has a place."""
    found = bundles(columns, config.arc_degrees, config.max_arcs)
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
            *_arcs(columns, found),
            *_dots(columns, bundles(columns, config.dot_degrees, config.max_dots)),
            *_crawlers(columns, placed),
        ),
    )


def shown_share(columns: Columns, config: ReportConfig) -> tuple[int, int]:
    """Count the sites behind the arcs that are drawn, and all sites that have place and crawler."""
    drawn = sum(bundle.sites for bundle in bundles(columns, config.arc_degrees, config.max_arcs))
    return drawn, int((np.isfinite(columns.latitude) & (columns.crawler != NOBODY)).sum())


def _arcs(columns: Columns, found: list[Bundle]) -> list[Layer]:
    """Draw arcs, one layer per crawler and width."""
    most = max((bundle.sites for bundle in found), default=1)
    groups: dict[tuple[int, float], list[Path]] = {}
    for bundle in found:
        crawler = columns.data.crawlers[bundle.crawler]
        if crawler.place is None:
            continue
        # The root, as for the area of a circle: else all arcs but those of the largest city are hairlines.
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
        mark = Mark(x, y, 6.2, crawler_form(number), tip)
        layers.append(layer([mark], ring, "crawler", crawler=number, focusable=True))
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
    # The map ends before the poles; what lies beyond is drawn at its edge.
    return float(x[0]), min(max(float(y[0]), 4.0), HEIGHT - 4.0)


def _tip(columns: Columns, bundle: Bundle) -> str:
    where = f" in {', '.join(bundle.countries)}" if bundle.countries else ""
    lines = [f"{columns.data.crawlers[bundle.crawler].name} → {plural(bundle.sites, 'site')}{where}"]
    if np.isfinite(bundle.mean_ms):
        lines.append(f"mean {bundle.mean_ms:.1f} ms")
    return "\n".join(lines)


def _where(crawler: ReportCrawler) -> str:
    place = crawler.place
    where = ", ".join(part for part in (place.city, place.country) if part) if place else ""
    return f" ({where})" if where else ""


def _alt(found: list[Bundle], placed: list[int]) -> str:
    sites = sum(bundle.sites for bundle in found)
    return (
        f"World map: {plural(len(placed), 'crawler')} with arcs to {plural(sites, 'site')} "
        f"in {plural(len(found), 'bundle')} of neighbouring sites, the largest."
    )
