"""Files of measurements as users have them: what is understood, what is counted, what is refused."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address
from math import isnan
from pathlib import Path

import pytest

from ipmicra.edge.files.measurements.reading import Measurements, read_measurements
from ipmicra.errors import InputError

A, B = IPv4Address("9.9.0.1"), IPv4Address("9.9.0.2")


def read(folder: Path, content: str | bytes, name: str = "pings.csv") -> Measurements:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_measurements(path)


def pairs(found: Measurements) -> Mapping[tuple[str, str], float]:
    names = list(found.crawlers)
    return {(names[one], str(site)): ms for (one, site), ms in found.rtt_ms.items()}


TWO = {("fra", "9.9.0.1"): 12.5, ("nyc", "9.9.0.1"): 90.0}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("crawler,address,rtt_ms\nfra,9.9.0.1,12.5\nnyc,9.9.0.1,90\n", id="as told"),
        pytest.param("fra,9.9.0.1,12.5\nnyc,9.9.0.1,90\n", id="no header"),
        pytest.param("12.5,9.9.0.1,fra\n90,9.9.0.1,nyc\n", id="no header, another order"),
        pytest.param("Vantage Point;Target IP;Min RTT (ms)\nfra;9.9.0.1;12,5\nnyc;9.9.0.1;90\n", id="commas"),
        pytest.param("from\tto\trtt_s\nfra\t9.9.0.1\t0.0125\nnyc\t9.9.0.1\t0.09\n", id="tabs, seconds"),
        pytest.param("agent dst_addr minRttUs\nfra 9.9.0.1 12500\nnyc 9.9.0.1 90000\n", id="blanks"),
        pytest.param("vp|ip|latency\nfra|9.9.0.1|12.5 ms\nnyc|9.9.0.1|0.09 s\n", id="units in cells"),
        pytest.param("time,agent,ip,ms\n2026-01-02,fra,9.9.0.1,12.5\nx,nyc,9.9.0.1,90\n", id="dates"),
        pytest.param("avg,min,agent,ip\n99,12.5,fra,9.9.0.1\n99,90,nyc,9.9.0.1\n", id="shortest first"),
        pytest.param(
            "# mine\n\nagent,ip,rtt\n\nfra,9.9.0.1:443,12.5\n# nyc\nnyc,https://9.9.0.1/x,90", id="urls"
        ),
        pytest.param('"agent","ip","rtt"\r\n"fra","9.9.0.1","12.5"\r\n"nyc","9.9.0.1",90\r\n', id="quotes"),
        pytest.param("\ufeffagent,ip,rtt\nfra,::ffff:9.9.0.1,12.5\nnyc,9.9.0.1,90\n", id="mapped"),
    ],
)
def test_messy_file_says_the_same_as_a_tidy_one(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert pairs(found) == pytest.approx(TWO)
    assert not found.left_out.counts


def test_form_is_told_by_content(tmp_path: Path) -> None:
    rows = [
        {"prb_id": 1, "from": "192.0.2.9", "dst_addr": "9.9.0.1", "min": 12.5, "avg": 20},
        {"prb_id": 2, "dst_addr": "9.9.0.1", "min": -1, "result": [{"x": "*"}]},
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    for content in (lines.encode(), json.dumps(rows).encode(), gzip.compress(lines.encode())):
        found = pairs(read(tmp_path, content, "results"))
        assert found["1", "9.9.0.1"] == 12.5
        assert isnan(found["2", "9.9.0.1"])
    tabs = "agent\tip\trtt\nfra\t9.9.0.1\t12.5\nnyc\t9.9.0.1\t90\n"
    assert pairs(read(tmp_path, tabs.encode("utf-16"))) == TWO


def test_shortest_of_repeated_measurements_counts_and_losses_are_known(tmp_path: Path) -> None:
    lost = ["", "-", "*", "nan", "Timeout", "-1", "null", "inf"]
    rows = [
        ("fra", A, "30"),
        ("fra", A, "*"),
        ("fra", A, "12.5"),
        ("fra", A, "31"),
        *(("nyc", A, one) for one in lost),
    ]
    found = read(tmp_path, "crawler,ip,rtt\n" + "".join(f"{c},{a},{t}\n" for c, a, t in rows))
    assert found.rtt_ms[0, A] == 12.5
    assert isnan(found.rtt_ms[1, A])
    assert (found.rows, found.repeated, found.lost) == (12, 10, 9)
    assert any("repeat a pair: 10; the shortest" in note for note in found.notes())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("fra,nowhere else,5", "no address of a site"),
        ("fra,010.1.2.3,5", "no address of a site"),
        (",9.9.0.1,5", "no crawler"),
        ("fra,9.9.0.1", "too few cells"),
        ("fra,9.9.0.1,soon", "no number"),
        ("fra,9.9.0.1,0", "0 cannot be true"),
        ("fra,9.9.0.1,1e9", "more than a minute"),
        ("fra,0.0.0.0,5", "no site can have this address"),
        ("fra,255.255.255.255,5", "no site can have this address"),
        ("fra,ff02::1,5", "no site can have this address"),
    ],
)
def test_row_that_is_left_out_is_counted_with_its_line(tmp_path: Path, row: str, reason: str) -> None:
    found = read(tmp_path, f"crawler,ip,rtt\nfra,{B},3\nnyc,{B},4\n{row}\n")
    assert len(found.rtt_ms) == 2
    (told,) = found.left_out.texts("row")
    assert told.startswith("1 row left out")
    assert reason in told
    assert "line 4" in told


def test_many_rows_of_one_fault_are_one_line(tmp_path: Path) -> None:
    found = read(tmp_path, f"crawler,ip,rtt\nfra,{B},3\n" + "fra,x y,3\n" * 50)
    assert found.left_out.texts("row") == [
        "50 rows left out, no address of a site: line 3 ('x y'); line 4 ('x y'); line 5 ('x y'); and 47 more"
    ]


def test_host_beside_an_address_is_kept_and_host_alone_waits_for_one(tmp_path: Path) -> None:
    text = f"agent,host,ip,rtt\nfra,a.example,{A},5\nfra,b.example,,6\nnyc,B.example.,,7\nnyc,{A},,8\n"
    found = read(tmp_path, text)
    assert found.names() == ["b.example"]
    found.give_addresses({"b.example": B})
    assert found.hosts == {A: "a.example", B: "b.example"}
    assert found.rtt_ms == {(0, A): 5.0, (0, B): 6.0, (1, B): 7.0, (1, A): 8.0}


def test_sites_of_ipv6_are_sites(tmp_path: Path) -> None:
    found = read(tmp_path, "crawler,ip,rtt\nfra,[2001:db8::1]:443,3\nfra,2001:db8:0::1,4\n")
    assert list(found.rtt_ms) == [(0, IPv6Address("2001:db8::1"))]


def test_seconds_that_are_not_named_are_suspected(tmp_path: Path) -> None:
    notes = read(tmp_path, "crawler,ip,rtt\n" + f"fra,{A},0.02\n").notes()
    assert any("name the column rtt_s" in note for note in notes)
    assert not any("rtt_s" in note for note in read(tmp_path, f"crawler,ip,rtt_ms\nfra,{A},0.02\n").notes())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot determine which columns"),
        (b"foo,bar,baz\n1,2,3\n", "there are 'foo', 'bar', 'baz'. Name them"),
        (b"name,address,latitude,longitude\na,192.0.2.1,1,2\n", "cannot determine which columns"),
        (bytes(range(256)), "zero bytes"),
        (gzip.compress(b"crawler,ip,rtt\n" * 500, mtime=0)[:40], "truncated or damaged"),
        (b"[1, 2", "is no JSON"),
    ],
)
def test_file_that_cannot_be_understood_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read(tmp_path, content)


def test_parquet_is_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"crawler": ["fra", "nyc"], "ip": [str(A)] * 2, "rtt": [12.5, 90.0]})
    parquet.write_table(table, tmp_path / "pings.parquet")
    assert pairs(read_measurements(tmp_path / "pings.parquet")) == TWO
