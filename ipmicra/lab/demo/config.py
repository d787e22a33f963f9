"""Every number of the demonstration. All of it is invented; nothing is fitted to what it shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.lab.worlds.synthetic import WorldPlan

FLEET = (
    ("fra", "Frankfurt", "DE", 50.11, 8.68),
    ("nyc", "New York", "US", 40.71, -74.01),
    ("sin", "Singapore", "SG", 1.35, 103.82),
    ("sao", "São Paulo", "BR", -23.55, -46.63),
    ("jnb", "Johannesburg", "ZA", -26.20, 28.05),
    ("syd", "Sydney", "AU", -33.87, 151.21),
    ("tyo", "Tokyo", "JP", 35.68, 139.69),
    ("sea", "Seattle", "US", 47.61, -122.33),
    ("bom", "Mumbai", "IN", 19.08, 72.88),
    ("saw", "Istanbul", "TR", 41.01, 28.98),
    ("dal", "Dallas", "US", 32.78, -96.80),
    ("nbo", "Nairobi", "KE", -1.29, 36.82),
)
"""Name, city, country, degrees north and east of each crawler; the first ones are spread most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoConfig:
    """Settings of the demonstration."""

    crawlers: int = len(FLEET)
    sites: int = 300
    seed: int = 2004
    subnets_per_site: float = 0.7
    """As in the world of Papapetrou and Samaras 2004: 1000 sites in about 700 subnets."""
    astray: float = 0.1
    """Share of the subnets whose servers stand in another city than their holder's seat."""
    pages_median: float = 80.0
    pages_spread: float = 1.2
    """Of the logarithm: a few sites have most of the pages."""
    plan: WorldPlan = field(default_factory=WorldPlan)
    """Detours and access lines of the round trips."""
    samples: int = 3
    """Round trips of each probe."""
    threshold_ms: float = 50.0
    """Of the policy `paper`, beside which `predict` is shown."""
    crawled_pages_per_site: float = 2.5
    """Mean of the pages that are really downloaded, in proportion to the sites' pages."""
    connections: int = 5
    """Of each crawler while downloading; as in Xu et al. 2010."""
    names_s: float = 30 * 24 * 3600.0
    """How long the host names, which no DNS knows, are kept."""
