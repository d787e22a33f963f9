"""A crawl of a loopback web by real processes: nodes, their coordinator, and what the web was asked for."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

from ipmicra.app.serve.place import OPERATOR_TOKEN
from ipmicra.edge.store.store import Store
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler
from tests.delegating_worlds import enrol, hierarchy_of
from tests.patience import PATIENCE_S
from tests.servers.coordinator import RunningCoordinator
from tests.servers.loopback_web import LoopbackWeb, Page, Visit, Web, loopback_web
from tests.servers.node_process import NodeProcess
from tests.servers.refusing import free_port
from tests.torture.crawl_history import CrawlHistory, Fetched, crawl_violations
from tests.torture.history import Fault

CRAWLERS = ("fra", "nyc")
IN_FLIGHT_S = 2.0
"""How long before a kill a page may have been fetched without having been reported, on a busy machine; and
how long after it the web may still hear of a request that was sent before."""


@dataclass(frozen=True, kw_only=True)
class World:
    """Hosts with pages that link to each other; two hosts share an address block."""

    hosts: int
    pages: int
    """Of each host."""

    @property
    def names(self) -> list[str]:
        return [f"h{number}.example" for number in range(self.hosts)]

    def owner(self, host: str) -> str:
        return CRAWLERS[self.block(host) % len(CRAWLERS)]

    def block(self, host: str) -> int:
        return int(host.removeprefix("h").partition(".")[0]) // 2

    def page(self, host: str, path: str) -> Page | None:
        """Return a page: a tree within its host, links across, and now and then a redirect."""
        if host not in self.names or (not path[1:].isdigit() and path != "/"):
            return None
        number, at = int(path[1:] or 0), self.names.index(host)
        if number >= self.pages:
            return None
        across = f"http://{self.names[(at * 3 + number + 1) % self.hosts]}/{number * 5 % self.pages}"
        if number % 17 == 16:
            return Page(status=302, location=across)
        within = (
            f"/{n}" for n in (2 * number + 1, 2 * number + 2, number * 7 % self.pages) if n < self.pages
        )
        return Page(links=(*within, across))

    def reachable(self, starts: Sequence[str]) -> set[str]:
        """Return every URL that a single node would fetch."""
        seen, queue = set(starts), deque(starts)
        while queue:
            url = queue.popleft()
            host, path = url.removeprefix("http://").split("/", 1)
            page = self.page(host, f"/{path}") or Page()
            for link in [*page.links, *([page.location] if page.location else [])]:
                found = urljoin(url, link)
                if found not in seen:
                    seen.add(found)
                    queue.append(found)
        return seen

    def write_home(self, folder: Path) -> None:
        """Write a coordinator's home: two crawlers, and the sites assigned to them."""
        hierarchy_of(folder, 2)
        with Store.open(str(folder / "state.db")) as store:
            enrol(store, [Crawler(name=name, address=ip_address("198.51.99.1")) for name in CRAWLERS])
            store.assignments.put_many(
                Assignment(
                    host=name,
                    address=ip_address(f"192.0.{self.block(name)}.{at % 2 + 1}"),
                    crawler=self.owner(name),
                    reason="nearest",
                    backend="balance",
                    assigned_s=1.0,
                )
                for at, name in enumerate(self.names)
            )


@dataclass
class Crawl:
    """A running crawl: the web, the mailboxes, a node for each crawler."""

    world: World
    folder: Path
    web: LoopbackWeb
    box: RunningCoordinator
    settings: dict[str, Any]
    starts: Sequence[str] = ("http://h0.example/", "http://h2.example/")
    nodes: dict[str, NodeProcess] = field(default_factory=dict)
    kills: list[tuple[float, str]] = field(default_factory=list)
    """When which node was killed."""
    doors: dict[str, str] = field(default_factory=dict)
    """URLs at which nodes reach the coordinator, if not at its own."""
    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    """Further variables of nodes."""
    prefixes: dict[str, list[str]] = field(default_factory=dict)
    """What starts nodes, if not the system does."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes.values():
            node.kill()

    def start(self, name: str, crawler: str | None = None) -> None:
        given = {
            "IPMICRA_COORDINATOR": self.doors.get(name, self.box.url),
            "IPMICRA_CRAWLER": crawler or name,
            "IPMICRA_NODE": name,
            "JOBDIR": str(self.folder / name),
            **self.settings,
        }
        log = self.folder / f"{name}.log"
        more, prefix = self.environments.get(name), self.prefixes.get(name, ())
        self.nodes[name] = NodeProcess(self.web, name, given, self.starts, log, more, prefix)

    def kill(self, name: str) -> None:
        self.nodes[name].kill()
        self.kills.append((time.monotonic(), name))

    def wait(self, patience_s: float = PATIENCE_S) -> None:
        """Wait for the end of all nodes."""
        deadline_s = time.monotonic() + patience_s
        while any(node.process.poll() != 0 for node in self.nodes.values()):
            assert time.monotonic() < deadline_s, self.report()
            self.supervise()
            time.sleep(0.05)

    def supervise(self) -> None:
        """Start nodes again that could not join because the coordinator was down, as an init system does."""
        for node in list(self.nodes.values()):
            if node.process.poll() not in {None, 0}:
                self.start(node.name)

    def report(self) -> str:
        logs = "\n".join(f"== {node.name}\n{node.text[-3000:]}" for node in self.nodes.values())
        return f"{self.box.get('/v1/crawls').text}\n{self.box.log()[-3000:]}\n{logs}"

    # --- what must hold

    def history(self, settle_s: float = IN_FLIGHT_S) -> CrawlHistory:
        """Return what the web was asked for; nodes that were killed are faults."""
        world = self.world
        return CrawlHistory(
            pages=world.reachable(self.starts),
            owner={name: world.owner(name) for name in world.names},
            delay_s=self.settings.get("DOWNLOAD_DELAY", 0.0),
            settle_s=settle_s,
            has_stand_ins=False,
            fetched=[
                Fetched(one.at_s, one.who, one.url, one.host, world.block(one.host), self._process_of(one))
                for one in self.web.visits
                if one.path != "/robots.txt"
            ],
            faults=[Fault(f"of {name}", "kill", at_s, at_s) for at_s, name in self.kills],
        )

    def check(self) -> None:
        """Check that every page was fetched, hardly one twice, each by its owner, and politely."""
        found = crawl_violations(self.history())
        assert not found, "\n".join([*found[:20], self.report()])

    def _process_of(self, visit: Visit) -> int:
        """Return how often the node had been killed."""
        return sum(name == visit.who and at_s < visit.at_s for at_s, name in self.kills)


def crawl_coordinator(world: World, folder: Path, *words: str, **environment: str) -> RunningCoordinator:
    """Return a coordinator that knows who owns the hosts of a world; it keeps its port when it restarts."""
    home = folder / "home"
    home.mkdir()
    world.write_home(home)
    words = ("--listen", f"127.0.0.1:{free_port()}", "--location", "none", *words)
    return RunningCoordinator(home, *words, token="0123456789abcdef", **environment)


def node_settings(box: RunningCoordinator, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of nodes, with the token of a coordinator that is running."""
    return {"IPMICRA_TOKEN_FILE": str(box.home / OPERATOR_TOKEN), **(settings or {})}


@contextmanager
def crawl_of(
    world: World,
    folder: Path,
    settings: dict[str, Any] | None = None,
    web: Web | None = None,
    lease_s: float = 15.0,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Crawl]:
    """Start a web and a coordinator, with further variables; end whatever runs at the end."""
    with (
        loopback_web(web or world.page) as site,
        crawl_coordinator(world, folder, "--node-lease", str(lease_s), **(environment or {})) as box,
        Crawl(world, folder, site, box, node_settings(box, settings)) as crawl,
    ):
        yield crawl
