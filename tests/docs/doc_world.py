"""Create the folder in which code of the documentation runs: hierarchy, fleet with agents, user files."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from ipmicra.app.build.build import build
from ipmicra.app.fleet.fleet import Fleet
from ipmicra.app.home import Home
from ipmicra.delegate.replay.world import World
from ipmicra.edge.files.worlds.load import save_world
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.internet_process import InternetProcess
from ipmicra.edge.store.store import Store
from ipmicra.lab.demo.config import DemoConfig
from ipmicra.lab.demo.invent import invent_world
from ipmicra.model.name import NameAnswer, NameStatus
from ipmicra.model.site import Site

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "rir_dumps" / "sample"
PLAYED = DemoConfig(crawlers=4, sites=30)
HOSTS = ("example.org", "www.example.com", "example.net", "www.example.edu")
"""Host names that the pages use; the other sites keep the world's names."""
DAY_S = 24 * 3600.0
SHIM = """#!/bin/sh
# On loopback the kernel completes handshakes itself, without delay: probes start at HEAD.
case $1 in
    delegate) exec {entry} "$@" --first-rung head ;;
    *) exec {entry} "$@" ;;
esac
"""
"""Wraps the installed entry point."""


@dataclass(frozen=True, slots=True)
class DocWorld:
    """The folder, the programs, and the token of the agents."""

    folder: Path
    """Copied for each page."""
    programs: Path
    """Contains `ipmicra`."""
    token: str

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment variables of a user who works in a folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("IPMICRA_")}
        return {
            **kept,
            "COLUMNS": "120",
            "IPMICRA_AGENT_TOKEN": self.token,
            "IPMICRA_HOME": str(folder),
            "PATH": os.pathsep.join(
                (str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"])
            ),
        }


@contextmanager
def doc_world(folder: Path) -> Iterator[DocWorld]:
    """Build the hierarchy of the samples, start agents and sites, write files and delegate the list."""
    home, programs = folder / "home", folder / "programs"
    for one in (home, programs):
        one.mkdir()
    shutil.copytree(SAMPLE, home / "rir_dumps")
    build(sorted((home / "rir_dumps").iterdir()), home / "hierarchy.ipm")
    with Hierarchy.open(home / "hierarchy.ipm") as hierarchy:
        played = invent_world(hierarchy, PLAYED)
        world = _renamed(played.world)
        save_world(world, home / "world", played.pages.tolist())
        with InternetProcess(home / "world", folder / "internet.log") as internet:
            _write_files(home, world, internet.port)
            with Store.open(Home(folder=home).store) as store:
                Fleet(store, hierarchy).add_many(
                    replace(one, agent_url=internet.urls[one.name]) for one in world.crawlers
                )
                store.names.put_many(
                    NameAnswer(
                        name=site.host,
                        status=NameStatus.FOUND,
                        addresses=(site.address,),
                        expires_s=time.time() + DAY_S,
                    )
                    for site in world.sites
                )
            shim = programs / "ipmicra"
            shim.write_text(SHIM.format(entry=Path(sys.executable).with_name("ipmicra")))
            shim.chmod(0o755)
            made = DocWorld(home, programs, internet.token)
            subprocess.run(
                [shim, "delegate", "seeds.txt"],
                cwd=home,
                env=made.environment(home),
                stdout=subprocess.DEVNULL,
                check=True,
                timeout=300,
            )
            yield made


def _renamed(world: World) -> World:
    """Return the first sites the names that the pages use."""
    sites = [Site(name, site.address) for name, site in zip(HOSTS, world.sites, strict=False)]
    return replace(world, sites=(*sites, *world.sites[len(sites) :]))


def _write_files(home: Path, world: World, port: int) -> None:
    """Write the files that the pages assume."""
    (home / "seeds.txt").write_text("".join(f"http://{site.host}:{port}/\n" for site in world.sites))
    (home / "hosts.txt").write_text("".join(f"{site.host}\n" for site in world.sites))
    (home / "token").write_text("0123456789abcdef0123456789abcdef\n")
    for name in ("crawlers.csv", "sites.csv"):
        shutil.copy(home / "world" / name, home / name)
    _write_csv(
        home / "today.csv", ("host", "crawler"), [(s.host, world.crawlers[0].name) for s in world.sites]
    )
    _write_csv(home / "links.csv", ("source", "target"), [(a.host, b.host) for a, b in pairwise(world.sites)])
    paths = "".join(f"<url><loc>http://{HOSTS[0]}/{part}/{i}</loc></url>" for part in "ab" for i in range(20))
    (home / "sitemap.xml").write_text(f"<urlset>{paths}</urlset>")
    _write_csv(home / "pages.csv", ("host", "pages"), [(s.host, 100 + i) for i, s in enumerate(world.sites)])


def _write_csv(path: Path, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
