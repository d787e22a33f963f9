"""Names by the thousand against real DNS servers on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from ipmicra.edge.dns import Resolver
from ipmicra.edge.dns.bulk import BulkResolver, Seed, UnresolvedSeed, grouped, read_seed
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.store.ports import NamesPort, NameStatus
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.site import Site
from tests.patience import PATIENCE_S
from tests.servers.dns_server import DnsServer, Zone

ZONES = {
    "a.example": Zone(addresses=("192.0.2.2", "192.0.2.1")),
    "both.example": Zone(addresses=("192.0.2.5", "2001:db8::5")),
    "six.example": Zone(addresses=("2001:db8::6",)),
    "alias.example": Zone(addresses=("192.0.2.9",), alias="real.example"),
    "none.example": Zone(),
    "fails.example": Zone(rcode=2),
    "refuses.example": Zone(rcode=5),
    "lost.example": Zone(addresses=("192.0.2.7",), silent=1),
    "silent.example": Zone(silent=99),
    "cut.example": Zone(addresses=tuple(f"192.0.2.{i}" for i in range(1, 90)), is_cut=True),
    "garbage.example": Zone(garbage=b"\xff" * 30),
    "spoofed.example": Zone(addresses=("192.0.2.8",), is_spoofed=True),
    "short.example": Zone(addresses=("192.0.2.3",), ttl_s=0),
}


@pytest.fixture
def server() -> Iterator[DnsServer]:
    with DnsServer(dict(ZONES)) as running:
        yield running


def asking(*servers: DnsServer, first_timeout_s: float = PATIENCE_S) -> DnsConfig:
    """Ask patiently: nobody is asked twice because the machine is busy."""
    places = tuple(one.place for one in servers)
    return DnsConfig(servers=places, first_timeout_s=first_timeout_s, tries=3)


def resolved(
    server: DnsServer,
    texts: list[str],
    cache: NamesPort | None = None,
    now_s: float = 1000.0,
    first_timeout_s: float = PATIENCE_S,
) -> tuple[list[Site | UnresolvedSeed], BulkResolver]:
    async def run() -> tuple[list[Site | UnresolvedSeed], BulkResolver]:
        config = asking(server, first_timeout_s=first_timeout_s)
        async with DnsClient(config, clock=lambda: now_s) as client:
            bulk = BulkResolver(client, cache, clock=lambda: now_s)
            return [one async for one in bulk.resolve(texts)], bulk

    return asyncio.run(run())


def test_batch_goes_on_and_says_what_is_missing(server: DnsServer) -> None:
    texts = ["a.example", "nowhere.example", "fails.example", "silent.example", "none.example", "bad name"]
    texts += ["https://both.example:8443/x", "192.0.2.200"]
    found, bulk = resolved(server, texts, first_timeout_s=0.3)
    assert [one.status for one in found if isinstance(one, UnresolvedSeed)] == [
        *(NameStatus.NXDOMAIN, NameStatus.SERVFAIL, NameStatus.TIMEOUT, NameStatus.NO_ADDRESS),
        NameStatus.BAD_NAME,
    ]
    assert [one for one in found if isinstance(one, Site)] == [
        Site("a.example", ip_address("192.0.2.1")),
        Site("both.example", ip_address("192.0.2.5"), "https", 8443),
        Site("192.0.2.200", ip_address("192.0.2.200")),
    ]
    assert bulk.counts[NameStatus.FOUND] == 3
    assert sum(bulk.counts.values()) == len(found) == 8


@pytest.mark.parametrize(
    ("name", "address"),
    [
        pytest.param("six.example", "2001:db8::6", id="IPv6 where there is no IPv4"),
        pytest.param("alias.example", "192.0.2.9", id="behind an alias"),
        pytest.param("lost.example", "192.0.2.7", id="asked again after a lost packet"),
        pytest.param("cut.example", "192.0.2.1", id="over TCP where UDP is too small"),
        pytest.param("spoofed.example", "192.0.2.8", id="not by whoever answers first"),
    ],
)
def test_name_is_resolved(server: DnsServer, name: str, address: str) -> None:
    found, _ = resolved(server, [name], first_timeout_s=0.3 if name == "lost.example" else PATIENCE_S)
    assert found == [Site(name, ip_address(address))]


@pytest.mark.parametrize(
    ("name", "status"),
    [("garbage.example", NameStatus.TIMEOUT), ("refuses.example", NameStatus.REFUSED)],
)
def test_answer_without_sense_is_no_answer(server: DnsServer, name: str, status: NameStatus) -> None:
    assert resolved(server, [name], first_timeout_s=0.02)[0] == [UnresolvedSeed(text=name, status=status)]


def test_second_server_helps_where_the_first_fails(server: DnsServer) -> None:
    async def run() -> tuple[object, ...]:
        async with DnsClient(asking(broken, server)) as client:
            return (await client.ask("a.example")).addresses, (await client.ask("a.example")).addresses

    with DnsServer({"a.example": Zone(rcode=2)}) as broken:
        first, second = asyncio.run(run())
    assert first == second == (ip_address("192.0.2.1"), ip_address("192.0.2.2"))


def test_answer_is_kept_as_long_as_it_says_and_no_longer(server: DnsServer) -> None:
    with Store.open("sqlite://") as store:
        for now_s in (1000.0, 1299.0):
            resolved(server, ["a.example", "nowhere.example"], store.names, now_s)
        assert server.asked == {"a.example": 1, "nowhere.example": 1}
        resolved(server, ["a.example"], store.names, 1301.0)
        assert server.asked["a.example"] == 2


def test_failures_are_not_kept(server: DnsServer) -> None:
    with Store.open("sqlite://") as store:
        resolved(server, ["fails.example"], store.names)
        before = server.asked["fails.example"]
        resolved(server, ["fails.example"], store.names)
        assert server.asked["fails.example"] == 2 * before


def test_name_that_comes_often_is_asked_for_once(server: DnsServer) -> None:
    found, _ = resolved(server, ["a.example", "A.example.", "http://a.example/1"] * 700)
    assert len(found) == 2100
    assert server.asked == {"a.example": 1}


def test_many_names_come_back_in_their_order(server: DnsServer) -> None:
    names = [f"n{i}.example" for i in range(3000)]
    server.zones.update(
        (name, Zone(addresses=(f"10.0.{i // 250}.{i % 250}",))) for i, name in enumerate(names)
    )
    found, _ = resolved(server, names, first_timeout_s=0.5)  # so many at once may be more than a socket holds
    assert [one.host for one in found if isinstance(one, Site)] == names


def test_sites_that_share_an_address_are_grouped() -> None:
    sites = [Site(f"{i}.example", ip_address(f"192.0.2.{i % 2}")) for i in range(5)]
    groups = grouped(sites)
    assert [len(group) for group in groups.values()] == [3, 2]


def test_single_look_up_gives_all_addresses_ipv4_first(server: DnsServer) -> None:
    resolver = Resolver(asking(server))
    assert resolver.addresses_of("both.example") == [ip_address("192.0.2.5"), ip_address("2001:db8::5")]
    with pytest.raises(InputError, match="no such host name"):
        resolver.addresses_of("nowhere.example")
    with pytest.raises(InputError, match="no address"):
        resolver.addresses_of("none.example")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("Example.ORG.", "example.org", None),
        ("https://example.org:8443/a?b#c", "example.org", 8443),
        ("example.org:8080", "example.org", 8080),
        ("[2001:db8::1]:81", "2001:db8::1", 81),
        ("2001:DB8::1", "2001:db8::1", None),
        ("http://user:secret@example.org/", "example.org", None),
        ("bücher.example", "bücher.example", None),
    ],
)
def test_seed_is_taken_apart(text: str, host: str, port: int | None) -> None:
    seed = read_seed(text)
    assert isinstance(seed, Seed)
    assert (seed.host, seed.port) == (host, port)


@pytest.mark.parametrize(
    "text", ["", "ftp://a.example", "a b", "1.2.3", "http://", "a:99999", "http://[::1", "300.1.2.3"]
)
def test_text_that_is_no_seed_is_told_so(text: str) -> None:
    assert read_seed(text) == UnresolvedSeed(text=text, status=NameStatus.BAD_NAME)
