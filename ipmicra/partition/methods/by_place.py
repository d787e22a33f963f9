"""Methods that choose by place: the same country, the nearest city, the same holder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.geo import distances_km
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.hashing import hash_many
from ipmicra.partition.problem import Column, Problem
from ipmicra.partition.sites import SiteTable

_CELLS = 1_000_000
"""Distances that are worked out at a time: eight megabytes."""


def by_country(problem: Problem) -> Column:
    """Assign each site to a crawler in its country [5], by hash among several; else to any, by hash."""
    crawlers = problem.crawlers if problem.crawlers.country.any() else standing(problem)
    hashes = hash_many(problem.sites.hosts)
    column = (hashes % np.uint64(len(crawlers))).astype(np.int32)
    for country in np.unique(crawlers.country[crawlers.country > 0]).tolist():
        own = np.flatnonzero(crawlers.country == country).astype(np.int32)
        here = problem.sites.country == country
        column[here] = own[hashes[here] % np.uint64(len(own))]
    return column


def by_city(problem: Problem) -> Column:
    """Assign each site to the crawler that is nearest on the ground."""
    everybody = np.arange(problem.parts, dtype=np.int32)
    return nearest_crawler(problem.sites, standing(problem), everybody)


def by_isp_city(problem: Problem) -> Column:
    """Assign each site to the nearest crawler with the same holder; where there is none, to the nearest."""
    sites, crawlers = problem.sites, standing(problem)
    column = nearest_crawler(sites, crawlers, np.arange(problem.parts, dtype=np.int32))
    for holder in np.unique(crawlers.holder[crawlers.holder >= 0]).tolist():
        own = np.flatnonzero(crawlers.holder == holder).astype(np.int32)
        here = np.flatnonzero(sites.holder == holder)
        column[here] = nearest_crawler(sites.taken(here), crawlers, own)
    return column


def nearest_crawler(sites: SiteTable, crawlers: CrawlerTable, among: Column) -> Column:
    """Return the nearest of some crawlers to each site; sites without a location go to the first of them."""
    column = np.full(len(sites), among[0] if len(among) else 0, np.int32)
    step = max(_CELLS // max(len(among), 1), 1)
    rows = np.flatnonzero(sites.has_location)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        away = distances_km(
            sites.latitude[some, None],
            sites.longitude[some, None],
            crawlers.latitude[None, among],
            crawlers.longitude[None, among],
        )
        column[some] = among[np.nan_to_num(away, nan=np.inf).argmin(axis=1)]
    return column


def standing(problem: Problem) -> CrawlerTable:
    """Return crawlers that stand somewhere: floating ones go to the places with the most pages."""
    crawlers, sites = problem.crawlers, problem.sites
    if crawlers.is_placed:
        return crawlers
    rows = np.flatnonzero(sites.has_location)
    if not len(rows):
        return crawlers
    place, first = _places(sites, rows)
    pages = np.bincount(place, np.maximum(sites.pages[rows], 1.0), len(first))
    chosen = rows[first[np.argsort(-pages, kind="stable")]]
    chosen = np.resize(chosen, len(crawlers))  # fewer places than crawlers: several stand in one
    return CrawlerTable(
        names=crawlers.names,
        latitude=sites.latitude[chosen],
        longitude=sites.longitude[chosen],
        country=sites.country[chosen],
        holder=sites.holder[chosen],
        capacity=crawlers.capacity,
    )


def _places(sites: SiteTable, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the different places of some sites; return each one's number, and where each number first is."""
    pairs = np.column_stack((sites.latitude[rows], sites.longitude[rows]))
    _, first, place = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    return place.reshape(-1).astype(np.int64), first.astype(np.int64)
