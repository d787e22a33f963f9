"""A world for the churn experiment: crawlers and sites on the nodes of a matrix, sizes, pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.assign.coordinate.coordinates import Coordinates
from ipmicra.assign.coordinate.space import Space, learn_space_moving
from ipmicra.errors import InputError
from ipmicra.lab.churn.config import ChurnConfig, SizeConfig
from ipmicra.model.types import Floats

Numbers = NDArray[np.int64]
_LEAST_SITES = 20
"""Fewest sites that a matrix must have room for beside the crawlers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be crawled, as tasks: whole sites or pieces of them."""

    site: Numbers
    """Which site a piece is of."""
    pages: Numbers

    def __len__(self) -> int:
        """Count the pieces."""
        return len(self.site)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnWorld:
    """Crawlers (rows) and sites (columns) with known round trips, and what coordinates predict for them."""

    rtt_ms: Floats
    """The truth."""
    expected_ms: Floats
    """What coordinates predict; landmarks have measured."""
    crawler_points: Floats
    site_points: Floats
    space: Space
    whole: Work
    pieces: Work

    @property
    def crawlers(self) -> int:
        """Number of crawlers."""
        return len(self.rtt_ms)

    @property
    def sites(self) -> int:
        """Number of sites."""
        return int(self.rtt_ms.shape[1])


def draw_world(matrix_ms: ArrayLike, config: ChurnConfig, rng: np.random.Generator) -> ChurnWorld:
    """Put crawlers on nodes drawn at random, sites on the others; several on one where there are too few."""
    matrix = np.asarray(matrix_ms, dtype=np.float64)
    _check(matrix, config)
    order = rng.permutation(len(matrix))
    crawlers, rest = order[: config.crawlers], order[config.crawlers :]
    sites = rest[: config.sites] if len(rest) >= config.sites else rng.choice(rest, config.sites)
    rtt_ms = _filled(matrix[np.ix_(crawlers, sites)])
    coordinates, samples = _fitted(matrix[np.ix_(crawlers, crawlers)], rtt_ms, config, rng)
    site_points = coordinates.points(samples)
    whole = Work(site=np.arange(config.sites), pages=draw_pages(config.sites, config.sizes, rng))
    return ChurnWorld(
        rtt_ms=rtt_ms,
        expected_ms=coordinates.predict(samples).T.copy(),
        crawler_points=coordinates.points(),
        site_points=site_points,
        space=learn_space_moving(site_points, config.moved_share),
        whole=whole,
        pieces=cut_sites(whole.pages, config.sizes, rng),
    )


def draw_pages(sites: int, sizes: SizeConfig, rng: np.random.Generator) -> Numbers:
    """Draw the pages of sites; each has one at least, and their mean is the config's but for rounding."""
    drawn = rng.lognormal(0.0, sizes.spread, sites)
    drawn *= sizes.mean_pages * sites / drawn.sum()
    pages: Numbers = np.maximum(1, np.round(drawn)).astype(np.int64)
    return pages


def cut_sites(pages: Numbers, sizes: SizeConfig, rng: np.random.Generator) -> Work:
    """Cut larger sites into pieces of unequal size; no page is lost, no piece is empty."""
    counts = 2 + rng.choice(len(sizes.piece_shares), len(pages), p=sizes.piece_shares)
    counts = np.where(pages < sizes.least_cut, 1, counts)
    site = np.repeat(np.arange(len(pages)), counts)
    part = rng.gamma(sizes.evenness, size=len(site))
    part /= np.bincount(site, part)[site]
    cut = np.maximum(1, np.floor(part * pages[site])).astype(np.int64)
    cut[np.cumsum(counts) - 1] += pages - np.bincount(site, cut).astype(np.int64)  # the rest piece
    return Work(site=site, pages=np.maximum(1, cut))


def _check(matrix: Floats, config: ChurnConfig) -> None:
    """Refuse a matrix that cannot hold the experiment."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:  # noqa: PLR2004 - rows and columns
        raise InputError(f"a matrix of round trips is square; this one is {matrix.shape}")
    if len(matrix) < config.crawlers + _LEAST_SITES:
        raise InputError(
            f"{len(matrix)} nodes are too few for {config.crawlers} crawlers and {_LEAST_SITES} sites"
        )


def _filled(rtt_ms: Floats) -> Floats:
    """Fill missing round trips with the largest of the site: such a crawler is never chosen."""
    clean = np.where(np.isfinite(rtt_ms) & (rtt_ms >= 0), rtt_ms, np.nan)
    most = np.nanmax(clean, axis=0)
    return np.where(np.isnan(clean), most, clean)


def _fitted(
    mutual_ms: Floats, rtt_ms: Floats, config: ChurnConfig, rng: np.random.Generator
) -> tuple[Coordinates, Floats]:
    """Fit GNP as the paper does; return it with the landmarks' samples of the sites."""
    coordinates = Coordinates.fit(
        mutual_ms, rng=rng, landmarks=min(config.landmarks, config.crawlers), method="gnp"
    )
    samples = np.full((rtt_ms.shape[1], len(rtt_ms)), np.nan)
    samples[:, coordinates.landmarks] = rtt_ms[coordinates.landmarks].T
    return coordinates, samples
