"""Names by the thousand against real DNS servers on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from ipmicra.edge.dns import Resolver
from ipmicra.edge.dns.bulk import NO_SITE, BulkResolver, grouped
from ipmicra.edge.dns.client import DnsClient, DnsConfig
from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.edge.files.seeds import NO_SEED, UnresolvedSeed
from ipmicra.edge.store.ports import NamesPort, SitesPort
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
    pins: SitesPort | None = None,
) -> tuple[list[Site | UnresolvedSeed], BulkResolver]:
    async def run() -> tuple[list[Site | UnresolvedSeed], BulkResolver]:
        config = asking(server, first_timeout_s=first_timeout_s)
        async with DnsClient(config, clock=lambda: now_s) as client:
            bulk = BulkResolver(client, cache, pins, clock=lambda: now_s)
            return [one async for one in bulk.resolve(texts)], bulk

    return asyncio.run(run())


def test_batch_goes_on_and_says_what_is_missing(server: DnsServer) -> None:
    texts = ["a.example", "nowhere.example", "fails.example", "silent.example", "none.example", "bad name"]
    texts += ["https://both.example:8443/x", "192.0.2.200"]
    found, _ = resolved(server, texts, first_timeout_s=0.3)
    assert [one.reason for one in found if isinstance(one, UnresolvedSeed)] == [
        *(REASONS[status] for status in ("nxdomain", "servfail", "timeout", "no-address")),
        NO_SEED,
    ]
    assert [one for one in found if isinstance(one, Site)] == [
        Site("a.example", ip_address("192.0.2.1")),
        Site("both.example", ip_address("192.0.2.5"), "https", 8443),
        Site("192.0.2.200", ip_address("192.0.2.200")),
    ]
    assert len(found) == 8


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
    [("garbage.example", "timeout"), ("refuses.example", "refused")],
)
def test_answer_without_sense_is_no_answer(server: DnsServer, name: str, status: str) -> None:
    expected = UnresolvedSeed(text=name, reason=REASONS[status])
    assert resolved(server, [name], first_timeout_s=0.02)[0] == [expected]


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


def test_single_look_up_takes_the_seeds_that_other_commands_take(server: DnsServer) -> None:
    texts = ["http://u:secret@both.example:8080/x", "192.0.2.0/24", "nowhere.example", "a b"]
    found = list(Resolver(asking(server)).resolve(texts))
    assert [(one.text, one.range_text) for one in found[:3] if not isinstance(one, UnresolvedSeed)] == [
        ("http://both.example:8080/x", "192.0.2.5"),
        ("http://both.example:8080/x", "2001:db8::5"),
        ("192.0.2.0/24", "192.0.2.0 - 192.0.2.255"),
    ]
    assert [one.reason for one in found[3:] if isinstance(one, UnresolvedSeed)] == [
        REASONS["nxdomain"],
        NO_SEED,
    ]


def test_pinned_host_keeps_its_address_and_is_not_asked_for(server: DnsServer) -> None:
    with Store.open("sqlite://") as store:
        store.sites.put_many([Site("a.example", ip_address("198.51.100.1"))], 1.0)
        found, _ = resolved(server, ["https://a.example:8443/", "both.example"], pins=store.sites)
        assert found == [
            Site("a.example", ip_address("198.51.100.1"), "https", 8443),
            Site("both.example", ip_address("192.0.2.5")),
        ]
        assert "a.example" not in server.asked
        assert store.sites.get("both.example") == Site("both.example", ip_address("192.0.2.5"))


def test_site_is_pinned_before_it_is_handed_over(server: DnsServer) -> None:
    async def first_of(store: Store) -> Site | UnresolvedSeed:
        async with DnsClient(asking(server)) as client:
            bulk = BulkResolver(client, store.names, store.sites)
            return await anext(aiter(bulk.resolve(["a.example"])))

    with Store.open("sqlite://") as store:
        found = asyncio.run(first_of(store))
        assert store.sites.get("a.example") == found


def test_prefix_is_no_site(server: DnsServer) -> None:
    assert resolved(server, ["192.0.2.0/24"])[0] == [UnresolvedSeed(text="192.0.2.0/24", reason=NO_SITE)]


def test_path_like_seed_that_is_no_host_may_be_a_mistyped_file(server: DnsServer) -> None:
    ((found,), _) = resolved(server, ["my.lists/today"])
    assert isinstance(found, UnresolvedSeed)
    assert found.reason == "there is no such host name, nor a file of this name"
