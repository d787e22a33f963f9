"""A folder with one of everything that commands work on, made once for many calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.store.store import Store
from tests.cli.command_line import dump_file, invoked
from tests.delegating_worlds import enrol, hierarchy_of, seeds_of, site_address, split_world

SITES, CRAWLERS = 8, 2


@dataclass(frozen=True, slots=True)
class Prepared:
    """Where things are."""

    folder: Path
    home: Path
    """With a hierarchy, and a store with crawlers."""
    internet: LoopbackInternet

    @property
    def host(self) -> str:
        """A site that was delegated."""
        return str(site_address(0))


@contextmanager
def prepared(folder: Path) -> Iterator[Prepared]:
    """Make all of it; agents and sites run meanwhile."""
    home = folder / "home"
    home.mkdir()
    with LoopbackInternet(split_world(SITES, CRAWLERS)) as internet:
        hierarchy_of(home, SITES)
        with Store.open(str(home / "state.db")) as store:
            enrol(store, list(internet.crawlers.values()))
        (folder / "seeds.txt").write_text("\n".join(seeds_of(SITES, internet.port)) + "\n")
        (folder / "some.rules").write_text("any -> prefer=c0\n")
        (folder / "token").write_text(internet.token)
        dump_file(folder)
        _write_world(folder / "world")
        rng = np.random.default_rng(1)
        places = rng.uniform(0, 100, (60, 2))
        apart = np.linalg.norm(places[:, None] - places[None, :], axis=2) + 1.0
        np.fill_diagonal(apart, 0.0)
        np.savez(folder / "matrix.npz", rtt_ms=apart)
        yield Prepared(folder, home, internet)


def _write_world(folder: Path) -> None:
    """Write three crawlers on a line, and sites beside them."""
    folder.mkdir()
    crawlers = {"ath": (37.98, 23.73, "GR"), "fra": (50.11, 8.68, "DE"), "nyc": (40.71, -74.01, "US")}
    lines = ["name,address,latitude,longitude,country"]
    lines += [
        f"{name},192.0.2.{i + 1},{place[0]},{place[1]},{place[2]}"
        for i, (name, place) in enumerate(crawlers.items())
    ]
    (folder / "crawlers.csv").write_text("\n".join(lines) + "\n")
    sites, trips = ["host,address,latitude,longitude,country,pages"], ["crawler,address,rtt_ms"]
    for i in range(24):
        latitude, longitude, country = list(crawlers.values())[i % 3]
        sites.append(f"s{i}.example,10.1.0.{i + 1},{latitude},{longitude},{country},{10 + i}")
        for j, name in enumerate(crawlers):
            trips.append(f"{name},10.1.0.{i + 1},{5 + 40 * abs(j - i % 3) + i / 10}")
    (folder / "sites.csv").write_text("\n".join(sites) + "\n")
    (folder / "rtt.csv").write_text("\n".join(trips) + "\n")


def run_well(*words: str | Path) -> str:
    """Run a command in this process that must succeed; give what it prints."""
    result = invoked(*words)
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.stdout
