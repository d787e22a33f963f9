"""What a partition costs: the time equations of [1], vectorised."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.geo import distances_km
from ipmicra.partition.centres import centres
from ipmicra.partition.config import CostConfig, Relocation
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.sums import sums_by

_BITS = 8
_MS = 1000.0


Places: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Latitudes and longitudes of the crawlers."""


def crawler_places(problem: Problem, column: Column) -> Places:
    """Return where the crawlers are: at their locations, else at the centre of their parts' pages."""
    sites, crawlers = problem.sites, problem.crawlers
    if crawlers.is_placed:
        return crawlers.latitude, crawlers.longitude
    weights = np.maximum(sites.pages, 1.0)
    latitude, longitude = centres(column, problem.parts, (sites.latitude, sites.longitude), weights)
    is_put = np.isfinite(crawlers.latitude)
    return (
        np.where(is_put, crawlers.latitude, latitude),
        np.where(is_put, crawlers.longitude, longitude),
    )


def site_rtt_s(problem: Problem, column: Column, places: Places | None = None) -> NDArray[np.float64]:
    """Return the round trip between each site and its crawler in seconds: as measured, else by distance."""
    config, sites = problem.costs, problem.sites
    if problem.rtt_ms is not None:
        measured = problem.rtt_ms[np.arange(len(sites)), column]
        return np.where(np.isfinite(measured), measured, config.unknown_rtt_ms) / _MS
    latitude, longitude = places or crawler_places(problem, column)
    away = distances_km(sites.latitude, sites.longitude, latitude[column], longitude[column])
    return rtt_by_distance_s(away, config)


def rtt_by_distance_s(away_km: NDArray[np.float64], config: CostConfig) -> NDArray[np.float64]:
    """Guess round trips from distances; not a number stands for an unknown one."""
    rtt_ms = config.base_rtt_ms + config.rtt_ms_per_km * away_km
    return np.where(np.isfinite(rtt_ms), rtt_ms, config.unknown_rtt_ms) / _MS


def site_download_s(
    pages: NDArray[np.float64], rtt_s: NDArray[np.float64], config: CostConfig
) -> NDArray[np.float64]:
    """Return the time to download each site over one connection (equation 1)."""
    transfer_s = config.pipeline_pages * config.page_bytes * _BITS / config.bandwidth_bps
    visits = pages / config.pipeline_pages
    return visits * (2 * rtt_s + transfer_s + config.polite_wait_s)


def connections(problem: Problem) -> NDArray[np.float64]:
    """Return each crawler's connections: N on average, by capacity."""
    share: NDArray[np.float64] = problem.costs.connections * problem.crawlers.shares * problem.parts
    return share


def download_s(problem: Problem, column: Column, places: Places | None = None) -> NDArray[np.float64]:
    """Return each crawler's time to download its part (equation 2); the slowest is the partition's."""
    single = site_download_s(problem.sites.pages, site_rtt_s(problem, column, places), problem.costs)
    return sums_by(column, single, problem.parts) / connections(problem)


def links_between(problem: Problem, column: Column) -> NDArray[np.float64]:
    """Count links by the crawlers of their two ends: a row per source, a column per target."""
    parts, links = problem.parts, problem.links
    if links is None:
        return np.zeros((parts, parts))
    pair = column[links.source] * np.int32(parts) + column[links.target]
    return sums_by(pair, links.count, parts * parts).reshape(parts, parts)


def exchange_s(
    problem: Problem,
    column: Column,
    between: NDArray[np.float64] | None = None,
    places: Places | None = None,
) -> NDArray[np.float64]:
    """Return each crawler's time to forward the URLs that belong to others (equation 3).

    Links between crawlers and the crawlers' places are worked out unless they are given.
    """
    sent = links_between(problem, column) if between is None else between
    return _forwarding_s(problem, column, places or crawler_places(problem, column), sent)


def relocation_s(problem: Problem, column: Column, places: Places | None = None) -> NDArray[np.float64]:
    """Return each crawler's time to move pages to where they belong.

    A page belongs to its site's part with probability p, to each of the n - 1 others with (1 - p) ÷ (n - 1).
    """
    pages = sums_by(column, problem.sites.pages, problem.parts)
    others = max(int(_takes_part(problem, column).sum()) - 1, 1)
    leaving = pages * (1 - problem.costs.same_scope) / others
    sent = np.repeat(leaving[:, None], problem.parts, axis=1)
    is_received = problem.costs.relocation is Relocation.RECEIVED
    return _forwarding_s(
        problem, column, places or crawler_places(problem, column), sent.T if is_received else sent
    )


def _takes_part(problem: Problem, column: Column) -> NDArray[np.bool_]:
    """Return which crawlers have a site."""
    return np.bincount(column, minlength=problem.parts) > 0


def _forwarding_s(
    problem: Problem, column: Column, places: Places, urls: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Time each row's crawler needs for the URLs of its row, one connection to each other crawler.

    A crawler without a site neither sends nor receives.
    """
    config = problem.costs
    latitude, longitude = places
    away = distances_km(latitude[:, None], longitude[:, None], latitude[None, :], longitude[None, :])
    single = 2 * rtt_by_distance_s(away, config) + config.url_bytes * _BITS * urls / config.bandwidth_bps
    takes_part = _takes_part(problem, column)
    single *= takes_part[:, None] & takes_part[None, :]
    np.fill_diagonal(single, 0.0)
    total: NDArray[np.float64] = single.sum(axis=1) / connections(problem)
    return total
