"""Small worlds on loopback for tests."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, ip_address

from ipmicra.edge.loopback.internet import LoopbackInternet
from ipmicra.edge.loopback.loopback_world import Fault, LoopbackWorld
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.probe import Probe
from ipmicra.model.site import Site

CRAWLERS = ("ath", "nyc")
NONE: frozenset[int] = frozenset()


def address_of(number: int) -> IPv4Address:
    """Public addresses, none of which is ever contacted."""
    return IPv4Address(int(IPv4Address("203.0.112.1")) + number)


def small_world(
    sites: int = 6,
    faults: Mapping[int, Fault] | None = None,
    lost: frozenset[int] = NONE,
    **more: float,
) -> LoopbackWorld:
    """Site i is 20 + 10 i ms from ath and twice as far from nyc; to the lost ones there is no way."""
    crawlers = tuple(
        Crawler(name=name, address=ip_address(f"198.51.99.{i + 1}")) for i, name in enumerate(CRAWLERS)
    )
    places = tuple(Site(f"s{i}.example", address_of(i)) for i in range(sites))
    rtt_ms: dict[tuple[str, Address], float] = {
        (name, address_of(i)): (20.0 + 10.0 * i) * (1 + k)
        for i in range(sites)
        for k, name in enumerate(CRAWLERS)
        if i not in lost
    }
    broken = {address_of(i): fault for i, fault in (faults or {}).items()}
    return LoopbackWorld(crawlers=crawlers, sites=places, rtt_ms=rtt_ms, faults=broken, **more)  # type: ignore[arg-type]


def probe_of(internet: LoopbackInternet, crawler: str, number: int) -> Probe:
    """The order to measure site `number`."""
    return Probe(
        crawler=crawler,
        address=address_of(number),
        host=f"s{number}.example",
        scheme="http",
        port=internet.port,
    )
