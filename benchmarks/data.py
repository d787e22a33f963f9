"""Where measured data is: real round trips and dumps of real registries, which are no part of the project."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.measure import ROOT

WORLD, REGISTRY = Path("worlds") / "atlas-anchors", Path("registry-2018-10")
NO_WORLD = f"name the folder that holds {WORLD} with IPMICRA_DATA"
NO_REGISTRY = f"name the folder that holds {REGISTRY} with IPMICRA_DATA"


def data_folder() -> Path | None:
    """Give the folder that IPMICRA_DATA names; else `shared/data` beside or above the project."""
    told = os.environ.get("IPMICRA_DATA")
    places = [Path(told)] if told else [parent / "shared" / "data" for parent in ROOT.parents]
    return next((place for place in places if place.is_dir()), None)


def world_folder() -> Path | None:
    """Give the world of RIPE Atlas anchors, with true places and true round trips."""
    folder = data_folder()
    return folder / WORLD if folder and (folder / WORLD / "sites.csv").is_file() else None


def registry_dumps() -> list[Path]:
    """Give the dumps of a registry; none where there are none."""
    folder = data_folder()
    return sorted((folder / REGISTRY).glob("*.gz")) if folder else []
