"""Registrations that the dumps lack, asked for by RDAP on loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.utils import formatdate
from ipaddress import IPv4Address, ip_address
from itertools import count
from pathlib import Path
from typing import Literal

import pytest

from ipmicra.app.delegate.batch import Batch
from ipmicra.app.delegate.missing_registrations import KEPT_S, GraftedTree, Grafter
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.rdap import RdapConfig, RdapSource, read_rdap
from ipmicra.edge.store.ports import Graft
from ipmicra.edge.store.store import Store
from ipmicra.errors import FetchError
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Decision
from tests.cli.command_line import built_file
from tests.delegating_worlds import enrol
from tests.servers.rdap_server import RdapServer, network

INSIDE, OUTSIDE, NOBODYS = (ip_address(text) for text in ("10.1.2.3", "80.1.2.3", "80.9.9.9"))
QUICK = RdapConfig(interval_s=0.0, tries=0, pause_s=0, timeout_s=5)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[RdapServer]:
    with RdapServer({"80.1.2.3": network("80.1.0.0", "80.1.127.255")}) as server:
        monkeypatch.setattr("ipwhois.rdap.BOOTSTRAP_URL", server.url)
        yield server


@pytest.fixture
def hierarchy(tmp_path: Path) -> Iterator[Hierarchy]:
    with Hierarchy.open(built_file(tmp_path)) as opened:
        yield opened


def test_registration_is_read_from_a_registry(registry: RdapServer) -> None:
    found = RdapSource(QUICK, clock=lambda: 5.0).ask(OUTSIDE)
    assert found == Graft(
        first=IPv4Address("80.1.0.0"),
        last=IPv4Address("80.1.127.255"),
        handle="NET-1",
        name="EXAMPLE",
        country="GR",
        asked_s=5.0,
    )
    assert registry.asked == ["80.1.2.3"]


def test_address_that_no_registry_gives_out_is_not_asked_for(registry: RdapServer) -> None:
    assert RdapSource(QUICK).ask(ip_address("10.0.0.1")) is None
    assert registry.asked == []


def test_registry_that_does_not_know_is_an_error_of_its_own(registry: RdapServer) -> None:
    with pytest.raises(FetchError, match=r"80\.9\.9\.9"):
        RdapSource(QUICK).ask(NOBODYS)
    assert registry.asked == ["80.9.9.9"]


@pytest.mark.parametrize("what", ["headers", "body"])
def test_registry_that_drips_is_given_up(registry: RdapServer, what: Literal["headers", "body"]) -> None:
    registry.drips = what
    with pytest.raises(FetchError, match=r"not answered within 0\.3 s"):
        RdapSource(replace(QUICK, total_s=0.3)).ask(OUTSIDE)


def test_redirect_of_a_registry_to_another_protocol_is_not_followed(registry: RdapServer) -> None:
    """A connection by ftp has no deadline, and whoever answers it could drip for ever."""
    with socket.create_server(("127.0.0.1", 0)) as ftp:
        place = f"ftp://127.0.0.1:{ftp.getsockname()[1]}/ip"
        registry.refusals = [(302, {"Location": place})]
        with pytest.raises(FetchError, match="RDAP for"):
            RdapSource(replace(QUICK, tries=0)).ask(OUTSIDE)
        ftp.setblocking(False)
        with pytest.raises(BlockingIOError):
            ftp.accept()


def test_answer_of_a_registry_is_read_up_to_a_limit(registry: RdapServer) -> None:
    with pytest.raises(FetchError):
        RdapSource(replace(QUICK, max_bytes=50)).ask(OUTSIDE)


def test_questions_keep_their_distance(registry: RdapServer) -> None:
    slept: list[float] = []
    source = RdapSource(RdapConfig(interval_s=3.0, tries=0), ticks=lambda: 100.0, sleep=slept.append)
    source.ask(OUTSIDE)
    source.ask(OUTSIDE)
    assert slept == [0.0, 3.0]
    assert len(registry.asked) == 2


def test_distance_is_kept_by_a_clock_that_does_not_jump(registry: RdapServer) -> None:
    slept: list[float] = []
    days = count(1e9, -86_400.0)
    source = RdapSource(
        RdapConfig(interval_s=3.0, tries=0),
        clock=lambda: next(days),
        sleep=slept.append,
        ticks=lambda: 100.0,
    )
    source.ask(OUTSIDE)
    source.ask(OUTSIDE)
    assert slept == [0.0, 3.0]
    assert registry.asked


class Calendar:
    """A clock that sleep moves on."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        if seconds:
            self.slept.append(seconds)

    def source(self, **settings: float) -> RdapSource:
        config = RdapConfig(**{"interval_s": 0.0, "tries": 2, "timeout_s": 5, **settings})  # type: ignore[arg-type]
        return RdapSource(config, ticks=lambda: self.now_s, sleep=self.sleep)


def in_seconds(count: int) -> str:
    return formatdate(time.time() + count, usegmt=True)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        (lambda: {"Retry-After": "7"}, 7),
        (lambda: {"retry-after": "8"}, 8),
        (lambda: {"Retry-After": in_seconds(90)}, 90),
        (lambda: {"Retry-After": "soon"}, 60),
        (lambda: {"Retry-After": "-5"}, 60),
        (dict, 60),
    ],
)
def test_registry_is_left_alone_as_long_as_it_asks(
    registry: RdapServer, status: int, headers: Callable[[], dict[str, str]], wait_s: float
) -> None:
    registry.refusals = [(status, headers())]
    calendar = Calendar()
    assert calendar.source().ask(OUTSIDE) is not None
    assert calendar.slept == [pytest.approx(wait_s, abs=5 if wait_s == 90 else 0)]
    assert len(registry.asked) == 2


def test_registry_that_wants_an_hour_is_not_waited_for_nor_asked_meanwhile(registry: RdapServer) -> None:
    registry.refusals = [(429, {"Retry-After": "3600"})]
    calendar = Calendar()
    source = calendar.source()
    for _ in range(2):
        with pytest.raises(FetchError, match="asks to wait for 3,600 s"):
            source.ask(OUTSIDE)
    assert (calendar.slept, len(registry.asked)) == ([], 1)
    calendar.sleep(3600)
    assert source.ask(OUTSIDE) is not None


def test_silence_that_a_registry_asks_for_has_an_end(registry: RdapServer) -> None:
    registry.refusals = [(429, {"Retry-After": "999999999"})]
    calendar = Calendar()
    source = calendar.source()
    with pytest.raises(FetchError, match="86,400 s"):
        source.ask(OUTSIDE)
    calendar.sleep(86_400)
    assert source.ask(OUTSIDE) is not None


def test_registry_that_never_has_time_is_given_up(registry: RdapServer) -> None:
    registry.refusals = [(429, {"Retry-After": "1"})] * 9
    calendar = Calendar()
    with pytest.raises(FetchError, match="queried too often"):
        calendar.source().ask(OUTSIDE)
    assert (calendar.slept, len(registry.asked)) == ([1.0, 1.0], 3)


def test_registry_that_wants_silence_does_not_silence_another(
    registry: RdapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.refusals = [(429, {"Retry-After": "3600"})]
    source = Calendar().source()
    with pytest.raises(FetchError):
        source.ask(OUTSIDE)
    with RdapServer({"80.1.2.3": network("80.1.0.0", "80.1.127.255")}) as other:
        monkeypatch.setattr("ipwhois.rdap.BOOTSTRAP_URL", other.url)
        assert source.ask(OUTSIDE) is not None


def test_broken_line_is_tried_again_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipwhois.rdap.BOOTSTRAP_URL", "http://127.0.0.1:1")
    with pytest.raises(FetchError, match="lookup failed"):
        Calendar().source().ask(OUTSIDE)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"network": None},
        {"network": {"cidr": "nonsense"}},
        {"network": {"start_address": "1.0.0.0", "end_address": "1.0.0.255"}},
    ],
)
def test_answer_that_is_not_around_the_address_is_none(answer: dict[str, object]) -> None:
    assert read_rdap(answer, OUTSIDE, 1.0) is None


class FakeRegistry:
    def __init__(self, *known: Graft) -> None:
        self.known, self.asked = known, 0

    def ask(self, address: Address) -> Graft | None:
        self.asked += 1
        if address == NOBODYS:
            return None
        for graft in self.known:
            if graft.first <= address <= graft.last:  # type: ignore[operator]
                return graft
        raise FetchError("RDAP", "nobody answers")


def graft(first: str, last: str, asked_s: float = 100.0) -> Graft:
    return Graft(
        first=ip_address(first),
        last=ip_address(last),
        handle="ORG-9",
        name="NINE",
        country="FR",
        asked_s=asked_s,
    )


def test_graft_becomes_a_subnet_below_the_root(hierarchy: Hierarchy) -> None:
    tree = GraftedTree(hierarchy, [graft("80.1.0.0", "80.1.2.255"), graft("80.2.0.0", "80.2.0.255")])
    row = tree.row_of("80.1.2.3")
    assert tree.bounds(row) == (IPv4Address("80.1.0.0"), IPv4Address("80.1.2.255"))
    assert (tree.parent(row), list(tree.descendants(row)), tree.country(row)) == (0, [], "FR")
    assert tree.organisation_number(row) == tree.organisation_number(tree.row_of("80.2.0.9")) < 0
    assert tree.row_of("80.1.3.0") == 0
    assert tree.row_of(str(INSIDE)) == hierarchy.row_of(str(INSIDE))
    assert tree.registry_number(row) == hierarchy.registry_number(0)


def test_region_of_a_registry_is_no_graft(hierarchy: Hierarchy) -> None:
    tree = GraftedTree(hierarchy, [graft("80.0.0.0", "95.255.255.255")])
    assert tree.is_outside(OUTSIDE)


def test_registry_is_asked_once_and_answers_are_kept(hierarchy: Hierarchy, memory_store: Store) -> None:
    registry = FakeRegistry(graft("80.1.0.0", "80.1.255.255"))
    grafter = Grafter(GraftedTree(hierarchy), memory_store, registry, lambda: 0.0)
    for now_s, asked in ((100.0, 2), (200.0, 2), (100.0 + KEPT_S + 1, 4)):
        grafter = Grafter(GraftedTree(hierarchy), memory_store, registry, lambda now_s=now_s: now_s)  # type: ignore[misc]
        for address in (INSIDE, OUTSIDE, ip_address("80.1.200.1"), NOBODYS, NOBODYS):
            assert asyncio.run(grafter.graft(address)) is None
        assert registry.asked == asked


def test_registry_that_does_not_answer_is_reported_and_asked_again(
    hierarchy: Hierarchy, memory_store: Store
) -> None:
    registry = FakeRegistry()
    grafter = Grafter(GraftedTree(hierarchy), memory_store, registry, lambda: 1.0)
    for asked in (1, 2):
        assert "nobody answers" in str(asyncio.run(grafter.graft(ip_address("81.0.0.1"))))
        assert registry.asked == asked


def test_batch_grafts_what_the_hierarchy_lacks(hierarchy: Hierarchy, memory_store: Store) -> None:
    store, registry = memory_store, FakeRegistry(graft("80.1.0.0", "80.1.255.255", 4e9))
    enrol(store, [Crawler(name="one", address=ip_address("10.0.0.1"))])
    found: list[Decision] = []
    batch = Batch(
        store,
        hierarchy,
        DelegateOptions(policy="paper", location="none", grafts=True),
        found.append,
        registrations=registry,
    )
    with pytest.raises(Exception, match="no crawler"):
        batch.run(["x"], ["80.1.2.3"])
    batch.options = DelegateOptions(policy="hash", location="none", grafts=True)
    report = batch.run(["x"], ["80.1.2.3", "10.1.2.3", "81.0.0.1"])
    assert sorted(str(one.address) for one in found) == ["10.1.2.3", "80.1.2.3", "81.0.0.1"]
    assert any("nobody answers" in note for note in report.notes)
    assert report.is_complete


def test_texts_of_an_answer_are_cut_and_a_country_has_two_letters() -> None:
    answer = {
        "network": {"start_address": str(OUTSIDE), "end_address": str(OUTSIDE), "country": "\x1b["},
        "entities": ["X" * 10_000],
    }
    found = read_rdap(answer, OUTSIDE, 1.0)
    assert found is not None
    assert found.handle == "X" * 200
    assert found.country is None
