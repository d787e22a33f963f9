"""Write a table of places with the errors of a GeoIP export: python -m benchmarks.geoip_export WORLD FILE.

No GeoIP data may be passed on with the project. What is known of such exports is that the place of 12 to 16 %
of the hosts is off by more than 500 km. So a share of the world's sites gets the true place of another site
that is farther away than that, drawn at random; all others keep their own. Real exports err by whole blocks
and are a little off everywhere, so the result stands for the share of wrong places only.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ipmicra.model.geo import km_between
from ipmicra.model.location import Location

FAR_KM = 500.0
SHARE = 0.14
"""Middle of 12 to 16 %."""
RADIUS_KM = 50


def exported(places: Sequence[Location], share: float, rng: np.random.Generator) -> list[Location]:
    """Replace the places of a share of the sites by far-away ones."""
    found = list(places)
    for i in rng.permutation(len(places))[: round(share * len(places))].tolist():
        far = [place for place in places if km_between(place, places[i]) > FAR_KM]
        found[i] = far[int(rng.integers(len(far)))]
    return found


def main() -> None:
    """Read the sites of a world and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.geoip_export", description=__doc__)
    parser.add_argument("world", type=Path, help="folder with sites.csv")
    parser.add_argument("file", type=Path, help="table to write, for --table")
    parser.add_argument("--share", type=float, default=SHARE, help=f"share of wrong places; default: {SHARE}")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = csv.DictReader((options.world / "sites.csv").read_text(encoding="utf-8").splitlines())
    sites = [row for row in rows if row["latitude"]]
    places = [
        Location(latitude=float(row["latitude"]), longitude=float(row["longitude"]), radius_km=RADIUS_KM)
        for row in sites
    ]
    found = exported(places, options.share, np.random.default_rng(options.seed))
    with options.file.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["target", "latitude", "longitude", "radius_km"])
        for row, place in zip(sites, found, strict=True):
            table.writerow([row["address"], place.latitude, place.longitude, RADIUS_KM])
    wrong = sum(km_between(one, other) > FAR_KM for one, other in zip(places, found, strict=True))
    print(f"{options.file}: {len(found)} places, {wrong} of them off by more than {FAR_KM:g} km")


if __name__ == "__main__":
    main()
