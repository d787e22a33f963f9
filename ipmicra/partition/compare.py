"""One row of figures for a method on a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ipmicra.partition.costs import crawler_places, download_s, exchange_s, links_between, relocation_s
from ipmicra.partition.methods import Method, partition
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.stability import moved_on_join
from ipmicra.partition.sums import sums_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a partition costs."""

    parts: int
    """Crawlers that got a site."""
    download_s: float
    """Seconds until the slowest crawler has downloaded its part."""
    exchange_s: float | None
    """Seconds until the slowest crawler has forwarded the links that belong to others; None without links."""
    relocation_s: float
    """Seconds until the slowest crawler has the pages that belong to it, or has sent those that do not."""
    edge_cut: float | None
    """Links between different crawlers; None without links."""
    load_variation: float
    """Standard deviation ÷ mean of pages ÷ capacity over all crawlers."""
    links_inside: float | None
    """Share of the links between sites that stay with one crawler; None without links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A method's costs, and how many sites it moves."""

    method: str
    costs: Costs
    moved_on_join: float | None
    """Share of sites that change their crawler when one more joins."""

    def row(self) -> dict[str, Any]:
        """Return the figures under their names."""
        return {"method": self.method, **asdict(self.costs), "moved_on_join": self.moved_on_join}


def costs_of(problem: Problem, column: Column) -> Costs:
    """Work out what a partition costs."""
    places = crawler_places(problem, column)
    between = None if problem.links is None else links_between(problem, column)
    total = 0.0 if between is None else float(between.sum())
    inside = 0.0 if between is None else float(np.trace(between))
    return Costs(
        parts=int(np.count_nonzero(np.bincount(column, minlength=problem.parts))),
        download_s=float(download_s(problem, column, places).max()),
        exchange_s=None if between is None else float(exchange_s(problem, column, between, places).max()),
        relocation_s=float(relocation_s(problem, column, places).max()),
        edge_cut=None if between is None else total - inside,
        load_variation=load_variation(problem, column),
        links_inside=inside / total if total else None,
    )


def load_variation(problem: Problem, column: Column) -> float:
    """Return standard deviation ÷ mean of the crawlers' pages ÷ capacity; 0 if there are no pages."""
    pages = sums_by(column, problem.sites.pages, problem.parts)
    relative = pages / problem.crawlers.capacity
    mean = float(relative.mean())
    return float(relative.std()) / mean if mean else 0.0


def score(method: Method, problem: Problem, keep: Callable[[Column], object] | None = None) -> Score:
    """Part the sites and work out all figures; `keep` is handed the column."""
    column = partition(method, problem)
    if keep is not None:
        keep(column)
    return Score(
        method=method.name,
        costs=costs_of(problem, column),
        moved_on_join=moved_on_join(method, problem, column),
    )
