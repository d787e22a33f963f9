"""What a user of `partition` hands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.app.home import Home
from ipmicra.errors import InputError
from ipmicra.partition.config import CostConfig, HashConfig, MetisConfig
from ipmicra.partition.sites import Grain


def metis_config(preference: float, grain: str) -> MetisConfig:
    """Make the settings of METIS; `grain` names what it keeps together."""
    if grain not in list(Grain):
        raise InputError(f"--grain is one of {', '.join(Grain)}")
    return MetisConfig(preference=preference, grain=Grain(grain))


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionInputs:
    """Sites, crawlers and what is known of them."""

    seeds: Sequence[str] = ()
    sites: Path | None = None
    crawlers: Path | None = None
    world: Path | None = None
    home: Home | None = None
    """Whose hierarchy, fleet, delegations and samples count where files say nothing."""
    links: Path | None = None
    generate_links: int | None = None
    """Seed of generated links."""
    locality: float = 0.0
    """Share of generated links that stay in their place."""
    networks: Path | None = None
    """Announced prefixes with their autonomous systems."""
    parts: int | None = None
    joining: Sequence[str] = ()
    """Crawlers that join the fleet."""
    leaving: Sequence[str] = ()
    """Crawlers that leave it."""
    hierarchy: Path | None = None
    """Instead of the home's."""
    resolve: bool = False
    """Ask the DNS: for addresses that are in no file and, where sites are located, for places."""
    locate: bool = False
    """Locate sites without a location."""
    place_tables: tuple[Path, ...] = ()
    geofeeds: tuple[Path, ...] = ()
    logical: Path | None = None
    """File of the logical table; the store's if none is named and the fleet is the home's."""
    is_kept: bool = True
    """Whether a changed logical table is kept."""
    seed: int = 0
    costs: CostConfig = field(default_factory=CostConfig)
    metis: MetisConfig = field(default_factory=MetisConfig)
    hashes: HashConfig = field(default_factory=HashConfig)
