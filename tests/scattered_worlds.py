"""A world whose names answer differently in different places: agents, sites and a DNS server for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.edge.store.store import Store
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from tests.cli.command_line import built_file
from tests.delegating_worlds import enrol
from tests.servers.dns_server import DnsServer, Zone

CRAWLERS = ("fra", "nyc", "tok")
STEP_MS = 100.0
"""How much nearer the nearest crawler is than the next: more than a busy machine adds to a round trip."""
NEAR_MS = 80.0
"""A margin that a busy machine does not reach, and a step does."""
HOSTS: Mapping[str, tuple[tuple[str, int] | None, ...]] = {
    "same.example": (("193.10.1.1", 1), ("193.10.1.1", 0), ("193.10.1.1", 2)),
    "geo.example": (("193.10.10.1", 2), ("193.10.11.1", 1), ("193.10.12.1", 0)),
    "cdn.example": (("193.10.10.1", 2), ("193.10.11.1", 1), ("193.10.12.1", 0)),
    "beside.example": (("193.10.10.7", 2), ("193.10.11.7", 1), ("193.10.12.7", 0)),
    "near.example": (("193.10.20.1", 0), ("193.10.21.1", 0), ("193.10.22.1", 0)),
    "part.example": (None, ("193.10.30.1", 1), ("193.10.30.1", 0)),
    "six.example": (("2a00:10::1", 0), ("2a00:11::1", 1), ("2a00:12::1", 2)),
    "lost.example": (("193.10.40.1", 9), ("193.10.41.1", 9), ("193.10.42.1", 9)),
    "gone.example": (None, None, None),
}
"""What each crawler sees of a host, and how many steps away that is; 9 is never answered."""
LOST = 9
DUMP = (
    "inetnum: 193.10.0.0 - 193.10.255.255\nnetname: NETS\ncountry: SE\nsource: RIPE\n\n"
    "inetnum: 193.10.1.0 - 193.10.1.255\nnetname: ONE\ncountry: SE\nsource: RIPE\n\n"
)


def scattered_world() -> LoopbackWorld:
    fleet = tuple(
        Crawler(name=name, address=ip_address(f"198.51.99.{i + 1}")) for i, name in enumerate(CRAWLERS)
    )
    rtt_ms: dict[tuple[str, Address], float] = {}
    sites: dict[Address, Site] = {}
    for host, views in HOSTS.items():
        for name, view in zip(CRAWLERS, views, strict=True):
            if view is not None:
                address = ip_address(view[0])
                sites[address] = Site(host, address)
                if view[1] != LOST:
                    rtt_ms[name, address] = 4.0 + STEP_MS * view[1]
    return LoopbackWorld(crawlers=fleet, sites=tuple(sites.values()), rtt_ms=rtt_ms)


def zones_of(crawler: int) -> dict[str, Zone]:
    return {
        host: Zone(addresses=(view[0],))
        for host, views in HOSTS.items()
        if (view := views[crawler]) is not None
    }


@dataclass
class ScatteredWorld:
    """The world at work."""

    internet: LoopbackInternet
    servers: dict[str, DnsServer] = field(default_factory=dict)

    def seed(self, host: str) -> str:
        return f"http://{host}:{self.internet.port}/"

    def questions(self) -> int:
        return sum(server.asked.total() for server in self.servers.values())

    def prepare(self, folder: Path, crawlers: tuple[str, ...] = CRAWLERS) -> Path:
        """Make a home with a hierarchy and some of the crawlers."""
        built_file(folder, DUMP, "hierarchy.ipm")
        with Store.open(str(folder / "state.db")) as store:
            enrol(store, [self.internet.crawlers[name] for name in crawlers])
        return folder


@contextmanager
def running_world(world: LoopbackWorld | None = None) -> Iterator[ScatteredWorld]:
    with ExitStack() as stack:
        servers = {name: stack.enter_context(DnsServer(zones_of(i))) for i, name in enumerate(CRAWLERS)}
        places = {name: server.place for name, server in servers.items()}
        internet = stack.enter_context(LoopbackInternet(world or scattered_world(), dns=places))
        yield ScatteredWorld(internet, servers)
