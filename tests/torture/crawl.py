"""Kill nodes of a crawl, its coordinator or both at random points, and see what the web was asked for.

Every crawl has a seed of its own, which decides who is killed and after which pauses; what that hits depends
on the machine. Nodes and coordinator are started again, and no pause is long enough for others to stand in.
`crawl_history.py` says what must not have happened.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.loopback_crawl import CRAWLERS, Crawl, World, crawl_of
from tests.patience import PATIENCE_S
from tests.torture.coordinator import say
from tests.torture.crawl_history import CrawlHistory, crawl_violations

FULL, PER_CRAWL = 100, 10
WORLD = World(hosts=20, pages=100)
DELAY_S = 0.25
"""Long enough that a crawl lasts for ten kills, and to be seen across hand-overs."""
LEASE_S = 60.0


def run_killed(
    folder: Path,
    seed: int,
    kills: int,
    world: World = WORLD,
    *,
    delay_s: float = DELAY_S,
    pause_s: float = 3.0,
) -> CrawlHistory:
    """Kill processes of one crawl and wait for its end; return what happened."""
    with crawl_of(world, folder, {"DOWNLOAD_DELAY": delay_s}, lease_s=LEASE_S) as crawl:
        for name in CRAWLERS:
            crawl.start(name)
        rng = Random(seed)
        for _ in range(kills):
            until_s = time.monotonic() + rng.uniform(0.5, 1.5) * pause_s
            while time.monotonic() < until_s:
                crawl.supervise()
                time.sleep(0.1)
            _strike(crawl, rng)
        crawl.wait(5 * PATIENCE_S)
        return crawl.history()


def _strike(crawl: Crawl, rng: Random) -> None:
    """Kill one or two processes, and start them again."""
    victims = rng.choice([["fra"], ["nyc"], ["box"], ["fra", "nyc"], ["fra", "box"], ["nyc", "box"]])
    victims = [name for name in victims if name == "box" or crawl.nodes[name].process.poll() is None]
    for name in victims:
        crawl.box.kill() if name == "box" else crawl.kill(name)
    time.sleep(rng.uniform(0.0, 0.5))
    if "box" in victims:
        crawl.box.start()
    for name in victims:
        if name != "box":
            crawl.start(name)


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="bin/torture crawl", description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=FULL, help=f"kills, {PER_CRAWL} in each crawl")
    parser.add_argument("--seed", type=int, default=1, help="of the first crawl; the next ones count on")
    chosen = parser.parse_args()
    found: list[str] = []
    for number, start in enumerate(range(0, chosen.points, PER_CRAWL)):
        seed, kills = chosen.seed + number, min(PER_CRAWL, chosen.points - start)
        say(f"replay with: bin/torture crawl --seed {seed} --points {kills}")
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="ipmicra-torture-") as folder:
            history = run_killed(Path(folder), seed, kills)
        wrong = crawl_violations(history)
        visited = Counter(one.url for one in history.fetched)
        say(
            f"seed {seed}: {kills} points, {len(history.faults)} nodes killed, {len(visited):,} pages, "
            f"{visited.total() - len(visited)} fetched twice, {time.monotonic() - began_s:.0f} s, "
            f"{len(wrong)} violations"
        )
        found += [f"seed {seed}: {one}" for one in wrong]
    for one in found[:50]:
        say(one)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
