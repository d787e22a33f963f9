"""Links for a list of sites whose real ones are unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ipmicra.partition.config import CostConfig
from ipmicra.partition.links.scale_free import attach
from ipmicra.partition.links.table import LinkTable, clean_links
from ipmicra.partition.sites import SiteTable


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConfig:
    """Shape of generated links."""

    mean_degree: float = 10.0
    """Sites that a site links to, on average; Exposto et al. 2005 take ten links."""
    locality: float = 0.0
    """Share of a site's links that stay in its own place. 0 is the graph of Exposto et al. 2005, who had no
    real links."""


def generate_links(
    sites: SiteTable, config: LinkConfig, costs: CostConfig, rng: np.random.Generator
) -> LinkTable:
    """Draw scale-free links; sites of many pages link to more sites.

    A site's links that leave it (pages × links per page × share that leaves) are spread evenly over the sites
    it links to.
    """
    degree = _degrees(sites.pages, config.mean_degree, rng)
    local = rng.binomial(degree, config.locality)
    across = attach(np.zeros(len(sites), np.int64), degree - local, rng)
    inside = attach(_places(sites), local, rng)
    source, target = (np.concatenate(pair) for pair in zip(across, inside, strict=True))
    differs = source != target
    source, target = source[differs], target[differs]
    leaving = np.maximum(sites.pages, 1.0) * costs.links_per_page * costs.leaving_share
    count = (leaving / np.maximum(np.bincount(source, minlength=len(sites)), 1))[source]
    return clean_links(source, target, count, len(sites))[0]


def _degrees(pages: NDArray[np.float64], mean: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw how many sites each site links to: more for those with more pages, one at least."""
    weight = np.sqrt(np.maximum(pages, 1.0))
    degrees: NDArray[np.int64] = np.maximum(rng.poisson(mean * weight / weight.mean()), 1).astype(np.int64)
    return degrees


def _places(sites: SiteTable) -> NDArray[np.int64]:
    """Number the sites' places; those without a location share one."""
    pairs = np.column_stack((np.nan_to_num(sites.latitude), np.nan_to_num(sites.longitude)))
    return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
