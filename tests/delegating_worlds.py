"""Worlds for delegation with real agents: subnets in a hierarchy, crawlers with known round trips."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address
from pathlib import Path

from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.loopback.loopback_world import LoopbackWorld
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site
from tests.cli.command_line import built_file

PER_SUBNET = 2
"""Sites of each subnet."""
STEP_MS = 100.0
"""How much nearer the nearest crawler is than the next: more than a busy machine adds to a round trip."""


def site_address(number: int) -> IPv4Address:
    """Public addresses, none of which is ever contacted: the first two of each eight."""
    subnet, place = divmod(number, PER_SUBNET)
    return IPv4Address(int(IPv4Address("203.0.112.0")) + 8 * subnet + place + 1)


def split_world(sites: int, crawlers: int, step_ms: float = STEP_MS) -> LoopbackWorld:
    """Put subnet s next to crawler s modulo their number; the others are a step farther each.

    Crawlers stand in a row, a step apart.
    """
    names = [f"c{i}" for i in range(crawlers)]
    fleet = tuple(
        Crawler(name=name, address=ip_address(f"198.51.99.{i + 1}")) for i, name in enumerate(names)
    )
    rtt_ms: dict[tuple[str, Address], float] = {}
    for number in range(sites):
        for i, name in enumerate(names):
            far = (i - number // PER_SUBNET) % crawlers
            rtt_ms[name, site_address(number)] = 4.0 + step_ms * far
    for i, name in enumerate(names):
        for k, other in enumerate(fleet):
            if i != k:
                rtt_ms[name, other.address] = 4.0 + step_ms * abs(i - k)
    places = tuple(Site(str(site_address(i)), site_address(i)) for i in range(sites))
    return LoopbackWorld(crawlers=fleet, sites=places, rtt_ms=rtt_ms)


def nearest_of(number: int, crawlers: int) -> str:
    """The crawler that a site belongs to."""
    return f"c{number // PER_SUBNET % crawlers}"


def subnet_dump(subnets: int, size: int = 8) -> str:
    """A dump with a wide subnet and narrow ones, all of one parent."""
    start = int(IPv4Address("203.0.112.0"))
    inner = (
        f"inetnum: {IPv4Address(start + size * i)} - {IPv4Address(start + size * i + size - 1)}\n"
        f"netname: N{i}\ncountry: GR\nsource: RIPE\n\n"
        for i in range(subnets)
    )
    return "inetnum: 203.0.0.0 - 203.0.255.255\nnetname: WIDE\ncountry: GR\nsource: RIPE\n\n" + "".join(inner)


def hierarchy_of(folder: Path, sites: int) -> Path:
    """Build the hierarchy of a world."""
    return built_file(folder, subnet_dump(-(-sites // PER_SUBNET)), "hierarchy.ipm")


def seeds_of(sites: int, port: int) -> list[str]:
    """Name the sites as a user does."""
    return [f"http://{site_address(i)}:{port}/" for i in range(sites)]


def enrol(store: StorePort, crawlers: list[Crawler]) -> None:
    """Let crawlers join."""
    for crawler in crawlers:
        store.crawlers.put(Member(crawler=crawler))


def delegated(
    folder: Path, store: StorePort, wanted: DelegateOptions, seeds: list[str]
) -> tuple[dict[str, Decision], BatchReport]:
    """Delegate seeds with the hierarchy of a folder; return the decisions by host, and the report."""
    found: dict[str, Decision] = {}
    with Hierarchy.open(folder / "hierarchy.ipm") as hierarchy:
        batch = Batch(store, hierarchy, wanted, lambda result: found.update({result.host: result}))
        return found, batch.run(seeds, seeds)
