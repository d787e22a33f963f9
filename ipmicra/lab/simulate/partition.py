"""The experiments of papers 001 and 004 on an invented national web, or on a user's own sites."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.app.partition.inputs import gather
from ipmicra.app.partition.options import PartitionInputs
from ipmicra.errors import InputError
from ipmicra.lab.experiments.partition_figures import FigurePoint, FiguresConfig, figures, stability
from ipmicra.lab.experiments.two_crawlers import TwoCrawlersConfig, simulate_two_crawlers
from ipmicra.lab.plots.partition import draw_figures
from ipmicra.lab.worlds.national_web import NationalWebConfig, national_web
from ipmicra.partition.config import CostConfig, Relocation
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.exchange.exchange import ExchangeConfig, Mode
from ipmicra.partition.links.invented import LinkConfig
from ipmicra.partition.problem import Problem

__all__ = [
    "STABLE_PARTS",
    "Relocation",
    "WebChoice",
    "exchange_rows",
    "figure_rows",
    "read_counts",
    "stability_rows",
]
STABLE_METHODS = (
    "hash",
    "two-level",
    "consistent",
    "chord",
    "city",
    "metis-geo",
    "metis-links",
    "metis-multi",
)
STABLE_PARTS = (5, 10, 20, 50)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebChoice:
    """Which web is simulated."""

    hosts: int = 20_000
    seed: int = 1
    locality: float = 0.5
    sites: Path | None = None
    """A user's own sites instead of invented ones."""
    world: Path | None = None
    relocation: Relocation = Relocation.RECEIVED


def make_problem(choice: WebChoice) -> Problem:
    """Invent a web, or take the user's sites with invented links."""
    costs = CostConfig(relocation=choice.relocation)
    if choice.sites or choice.world:
        inputs = PartitionInputs(
            sites=choice.sites,
            world=None if choice.sites else choice.world,
            parts=1,
            generate_links=choice.seed,
            locality=choice.locality,
            costs=costs,
        )
        with gather(inputs) as gathered:
            return replace(gathered.problem, crawlers=CrawlerTable.floating(1), rtt_ms=None)
    config = NationalWebConfig(hosts=choice.hosts, links=LinkConfig(locality=choice.locality))
    web = national_web(config, costs, np.random.default_rng(choice.seed))
    return Problem(
        sites=web.sites, links=web.links, crawlers=CrawlerTable.floating(1), costs=costs, seed=choice.seed
    )


def read_counts(text: str) -> tuple[int, ...]:
    """Read numbers of parts: `5,10,20` or `1-50`, mixed freely."""
    counts: list[int] = []
    for piece in text.split(","):
        first, dash, last = piece.strip().partition("-")
        try:
            counts.extend(range(int(first), int(last if dash else first) + 1))
        except ValueError as error:
            raise InputError(f"{piece!r} is no number of parts; write 5,10,20 or 1-50") from error
    if not counts or min(counts) < 1:
        raise InputError("numbers of parts start at 1")
    return tuple(sorted(set(counts)))


def figure_rows(
    choice: WebChoice, config: FiguresConfig, plot: Path | None
) -> tuple[list[dict[str, Any]], list[Path]]:
    """Work out figures 4 to 7; draw them if a folder is given."""
    points: list[FigurePoint] = list(figures(make_problem(choice), config))
    points.sort(key=lambda point: (point.figure, point.parts, point.same_scope or 0.0))
    files = draw_figures(points, plot) if plot else []
    return [asdict(point) for point in points], files


def stability_rows(choice: WebChoice, parts: tuple[int, ...]) -> list[dict[str, Any]]:
    """Count sites that move on a join and on a leave."""
    return [asdict(moves) for moves in stability(make_problem(choice), STABLE_METHODS, parts)]


def exchange_rows(seed: int, pages: int, links_per_page: float) -> list[dict[str, Any]]:
    """Run the test of two crawlers in each mode; a row per crawler."""
    rows = []
    for mode in Mode:
        config = TwoCrawlersConfig(
            pages=pages, links_per_page=links_per_page, exchange=ExchangeConfig(mode=mode)
        )
        result = simulate_two_crawlers(config, np.random.default_rng(seed))
        for number, crawler in enumerate(result.crawlers, 1):
            tally = crawler.tally
            rows.append(
                {
                    "mode": str(mode),
                    "crawler": number,
                    "pages": crawler.pages,
                    "foreign_share": crawler.foreign_share,
                    "urls_sent": tally.sent,
                    "messages": tally.batches,
                    "urls_per_page": tally.sent / crawler.pages if crawler.pages else None,
                    "repeated": tally.repeated,
                    "coverage": sum(one.pages for one in result.crawlers) / result.reachable,
                    "fetched_twice": result.fetched_twice,
                }
            )
    return rows
