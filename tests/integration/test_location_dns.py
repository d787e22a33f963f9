"""Clues from a real DNS server on loopback: addresses, reverse names, LOC records, and what goes wrong."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from ipmicra.edge.dns.location import CluesConfig, DnsClues, LocationDns
from ipmicra.locate.config import LocateConfig
from ipmicra.locate.hostname import HostName, read_host_name
from ipmicra.locate.loc_record import loc_hint
from tests.patience import PATIENCE_S
from tests.servers.dns_server import DnsServer, Zone

AMSTERDAM = "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m"
ROME = "41 54 0.000 N 12 30 0.000 E 20.00m 200m 30000m 10m"
PATIENT = CluesConfig(first_timeout_s=PATIENCE_S, tries=1, concurrency=8)


def host(name: str) -> HostName:
    read = read_host_name(name, lambda text: ".".join(text.split(".")[-2:]))
    assert isinstance(read, HostName)
    return read


def gathered(
    server: DnsServer, *targets: tuple[str | None, str | None], config: CluesConfig = PATIENT
) -> list[DnsClues]:
    pairs = [
        (host(name) if name else None, ip_address(address) if address else None) for name, address in targets
    ]
    return LocationDns(config, (server.place,)).gather(pairs)


def test_host_is_resolved_named_in_reverse_and_located_by_its_loc_record() -> None:
    zones = {
        "www.example.net": Zone(addresses=("192.0.2.7",), records={"LOC": (AMSTERDAM,)}),
        "7.2.0.192.in-addr.arpa": Zone(records={"PTR": ("srv7.ams2.example.net.",)}),
    }
    with DnsServer(zones) as server:
        (clues,) = gathered(server, ("www.example.net", None))
    assert [str(address) for address in clues.addresses] == ["192.0.2.7"]
    assert clues.names == ["srv7.ams2.example.net"]
    (record,) = clues.loc_records
    hint = loc_hint(record, LocateConfig())
    assert hint is not None
    assert (hint.location.latitude, hint.location.longitude) == pytest.approx((52.373, 4.892), abs=0.001)
    assert hint.location.radius_km == 5.0
    assert hint.evidence == "LOC record of `www.example.net`"
    assert clues.findings == []


def test_loc_record_of_the_reverse_name_counts_for_an_address() -> None:
    with DnsServer({"7.2.0.192.in-addr.arpa": Zone(records={"LOC": (ROME,)})}) as server:
        (clues,) = gathered(server, (None, "192.0.2.7"))
    (record,) = clues.loc_records
    assert (record.owner, record.is_parent) == ("7.2.0.192.in-addr.arpa", False)
    assert record.precision_m == pytest.approx(30_000)


def test_parent_of_a_host_name_is_asked_when_the_host_has_no_record() -> None:
    with DnsServer({"example.net": Zone(records={"LOC": (ROME,)})}) as server:
        (clues,) = gathered(server, ("a.b.example.net", None))
    (record,) = clues.loc_records
    assert (record.owner, record.is_parent) == ("example.net", True)
    hint = loc_hint(record, LocateConfig())
    assert hint is not None
    assert hint.location.radius_km == LocateConfig().loc_parent_km


def test_name_of_the_network_is_asked_as_rfc_1101_has_it() -> None:
    zones = {
        "0.2.0.192.in-addr.arpa": Zone(records={"PTR": ("labnet.example.net.",)}),
        "labnet.example.net": Zone(records={"LOC": (AMSTERDAM,)}),
    }
    with DnsServer(zones) as server:
        (clues,) = gathered(server, (None, "192.0.2.7"))
    assert [record.owner for record in clues.loc_records] == ["labnet.example.net"]


def test_ipv6_prefixes_are_asked_for_their_records() -> None:
    network = "0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
    with DnsServer({network: Zone(records={"LOC": (ROME,)})}) as server:
        (clues,) = gathered(server, (None, "2001:db8::1"))
    assert [record.owner for record in clues.loc_records] == [network]


def test_silence_failure_and_nonsense_are_findings_and_the_rest_continues() -> None:
    zones = {
        "silent.example.net": Zone(silent=99),
        "failing.example.net": Zone(rcode=2),
        "garbled.example.net": Zone(garbage=b"\x84\x00\x00\x01\x00\x01nonsense"),
        "sound.example.net": Zone(addresses=("192.0.2.9",), records={"LOC": (AMSTERDAM,)}),
    }
    names = ("silent", "failing", "garbled", "sound")
    with DnsServer(zones) as server:
        config = replace(PATIENT, first_timeout_s=1.5)
        clues = gathered(server, *((f"{name}.example.net", None) for name in names), config=config)
    assert [bool(one.findings) for one in clues] == [True, True, True, False]
    assert "no answer for A" in clues[0].findings[0]
    assert clues[1].findings[0] == (
        "failing.example.net: A: the host name cannot be resolved: the server failed (SERVFAIL)"
    )
    assert [bool(one.loc_records) for one in clues] == [False, False, False, True]


def test_each_question_is_asked_once_however_many_want_to_know() -> None:
    with DnsServer({"example.net": Zone(records={"LOC": (ROME,)})}) as server:
        config = replace(PATIENT, batch=7)
        clues = gathered(server, *((f"h{i}.example.net", None) for i in range(20)), config=config)
    assert all(one.loc_records for one in clues)
    assert server.asked_by_kind["example.net", "LOC"] == 1


def test_missing_names_leave_no_finding() -> None:
    with DnsServer({}) as server:
        (clues,) = gathered(server, ("nowhere.example.net", None))
    assert clues == DnsClues()


def test_after_many_silent_questions_no_more_are_asked() -> None:
    """A batch must not wait three seconds for each of a million names when the resolver is dead."""
    silent = {f"h{i}.example.net": Zone(silent=99) for i in range(40)}
    config = CluesConfig(first_timeout_s=0.3, tries=1, concurrency=4, failures_before_silence=6)
    with DnsServer(silent) as server:
        dns = LocationDns(config, (server.place,))
        clues = dns.gather([(host(f"h{i}.example.net"), None) for i in range(40)], with_loc=False)
    assert dns.asked < 20
    assert any("silent" in finding for finding in clues[-1].findings)
