"""What a method makes of a problem: times, links, load, and sites that move with the fleet."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ipmicra.partition.costs import crawler_places, download_s, exchange_s, links_between, relocation_s
from ipmicra.partition.methods.metis.mapping import renumbered
from ipmicra.partition.methods.registry import Method, partition
from ipmicra.partition.problem import Column, Problem
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
class PartitionResult:
    """What a method made of a problem: the crawler of each site, and the figures."""

    method: str
    column: Column
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


def result_of(method: Method, problem: Problem) -> PartitionResult:
    """Partition the sites and work out all figures."""
    column = partition(method, problem)
    return PartitionResult(
        method=method.name,
        column=column,
        costs=costs_of(problem, column),
        moved_on_join=moved_on_join(method, problem, column),
    )


# --- stability


def moved_on_join(method: Method, problem: Problem, column: Column) -> float | None:
    """Return the share of sites that move when a crawler joins.

    One more crawler joins a floating fleet. In a fleet with locations it is unknown where the next one
    will stand: there the last crawler is taken to have joined last. None where nothing can be said.
    """
    if not len(column) or method.is_given:
        return None
    if not np.isfinite(problem.crawlers.latitude).any() and problem.rtt_ms is None:
        after = replace(problem, crawlers=problem.crawlers.with_newcomer())
        return _moved(method, problem, after, column)
    if problem.parts == 1:
        return None
    before = problem.first(problem.parts - 1)
    return _moved(method, before, problem, partition(method, before))


def moved_on_leave(
    method: Method, problem: Problem, column: Column, leaver: int | None = None
) -> float | None:
    """Return the share of sites that move when a crawler leaves; None for a fleet of one.

    The last one leaves, unless `leaver` names another by its number.
    """
    if problem.parts == 1 or not len(column) or method.is_given:
        return None
    gone = problem.parts - 1 if leaver is None else leaver
    rest = [number for number in range(problem.parts) if number != gone]
    return _moved(method, problem, problem.among(rest), column)


def _moved(method: Method, before: Problem, after: Problem, column: Column) -> float:
    changed = method.again(before, after, column) if method.again else partition(method, after)
    if not method.again and method.has_numbered_parts and not after.crawlers.is_placed:
        return float(np.mean(renumbered(changed, column, max(before.parts, after.parts)) != column))
    # by name: after a crawler in the middle has left, the others have other numbers
    names, earlier = np.array(after.crawlers.names), np.array(before.crawlers.names)
    return float(np.mean(names[changed] != earlier[column]))
