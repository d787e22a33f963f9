"""`bin/torture crawl`: kill nodes, the coordinator or both at many points of crawls."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.crawl_faults import World, crawl_of, torture

POINTS_PER_CRAWL = 10
WORLD = World(hosts=20, pages=100)
DELAY_S = 0.25
"""Long enough that a crawl lasts for ten kills, and to be seen across hand-overs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100, help="kills, ten in each crawl")
    parser.add_argument("--seed", type=int, default=1, help="of the first crawl; the next ones count on")
    asked = parser.parse_args()
    done = 0
    for seed in range(asked.seed, asked.seed + -(-asked.points // POINTS_PER_CRAWL)):
        kills = min(POINTS_PER_CRAWL, asked.points - done)
        done += kills
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            settings = {"DOWNLOAD_DELAY": DELAY_S}
            with crawl_of(WORLD, Path(folder), settings, lease_s=60.0) as crawl:
                torture(crawl, seed, kills, pause_s=3.0)
            visited = Counter(crawl.web.urls())
        print(  # noqa: T201 - a script
            f"seed {seed}: {kills} points, {len(crawl.kills)} nodes killed, {len(visited):,} pages, "
            f"{visited.total() - len(visited)} fetched twice, {time.monotonic() - began_s:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
