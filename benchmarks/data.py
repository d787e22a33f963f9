"""Locate real round trips and real dumps, which are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.measure import ROOT

WORLD, REGISTRY = Path("worlds") / "atlas-anchors", Path("registry-2018-10")
OTHER_WORLDS = ("atlas-cloud", "wn-30")
NO_WORLD = f"name the folder that holds {WORLD} with IPMICRA_DATA"
NO_REGISTRY = f"name the folder that holds {REGISTRY} with IPMICRA_DATA"


def data_folder() -> Path | None:
    """Return the folder named by IPMICRA_DATA, else `shared/data` beside or above the project."""
    folder = os.environ.get("IPMICRA_DATA")
    places = [Path(folder)] if folder else [parent / "shared" / "data" for parent in ROOT.parents]
    return next((place for place in places if place.is_dir()), None)


def world_folder() -> Path | None:
    """Return the world of RIPE Atlas anchors, with true locations and round trips."""
    folder = data_folder()
    return folder / WORLD if folder and (folder / WORLD / "sites.csv").is_file() else None


def other_worlds() -> list[Path]:
    """Return further worlds with real round trips, an empty list if there are none."""
    folder = data_folder()
    found = [folder / "worlds" / name for name in OTHER_WORLDS] if folder else []
    return [one for one in found if (one / "sites.csv").is_file()]


def registry_dumps() -> list[Path]:
    """Return the dumps of a registry, an empty list if there are none."""
    folder = data_folder()
    return sorted((folder / REGISTRY).glob("*.gz")) if folder else []
