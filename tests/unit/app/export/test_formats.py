"""Each format, on sites of every kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from ipmicra.app.export.export import ExportRequest, export_files, export_stream, read_proxies
from ipmicra.app.export.formats import FORMATS, KITS, kit_named
from ipmicra.app.export.heritrix import queue_of
from ipmicra.app.export.rows import ExportRow, SiteReader, export_mark, read_sites
from ipmicra.app.export.scope import LeftOut
from ipmicra.app.export.sources import StoreSource
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from tests.export_worlds import CRAWLERS, PROXY, SITES, assignment, decision, fill, site

MEMORY = "sqlite://"


@pytest.fixture
def store() -> Iterator[StorePort]:
    with Store.open(MEMORY) as opened:
        fill(opened)
        yield opened


def exported(store: StorePort, program: str, *seeds: str, **more: object) -> tuple[str, LeftOut]:
    request = ExportRequest(program=program, seeds=seeds, **more)  # type: ignore[arg-type]
    pieces, left_out = export_stream(StoreSource(store), request)
    return b"".join(pieces).decode(), left_out


def reasons(left_out: LeftOut) -> dict[str, list[str]]:
    return {reason: one.examples for reason, one in left_out.sites.items()}


def test_tables_have_every_site_and_leave_out_nothing(store: StorePort) -> None:
    text, left_out = exported(store, "jsonl")
    records = [json.loads(line) for line in text.splitlines()]
    assert {one["host"] for one in records} == {one.host for one in SITES}
    assert left_out.count == 0
    by_host = {one["host"]: one for one in records}
    assert by_host["alone.example"]["crawler"] == "nyc"
    assert by_host["alone.example"]["source"] == "delegation"
    assert by_host["alone.example"]["subnet"] == "198.51.100.0/22"
    assert by_host["nobody.example"]["crawler"] is None
    assert by_host["open.example"]["reason"].startswith("not delegated yet")
    assert by_host["gone.example"]["crawler"] is None
    assert by_host["port.example"]["url"] == "http://port.example:8080"
    lines = exported(store, "csv")[0].splitlines()
    assert len(lines) == 1 + len(records)


def test_parquet_has_the_rows_of_the_other_tables(store: StorePort) -> None:
    pieces, _ = export_stream(StoreSource(store), ExportRequest(program="parquet"))
    rows = parquet.read_table(BytesIO(b"".join(pieces))).to_pylist()
    assert rows == [json.loads(line) for line in exported(store, "jsonl")[0].splitlines()]


def test_sites_without_an_owner_are_left_out_with_the_reason(store: StorePort) -> None:
    _, left_out = exported(store, "urlfrontier")
    assert reasons(left_out) == {
        "its crawler old has left: run `ipmicra assign` again": ["gone.example"],
        "rules leave no crawler": ["nobody.example"],
        "not delegated yet: run `ipmicra delegate` or `ipmicra assign`": ["open.example"],
    }
    assert left_out.lines()[0].startswith("left out 1 (gone.example): its crawler old has left")


def test_frontier_has_a_url_for_each_vantage_and_piece(store: StorePort) -> None:
    infos = [
        json.loads(line)["discovered"]["info"] for line in exported(store, "urlfrontier")[0].splitlines()
    ]
    found = {(one["url"], one["crawlID"]): one for one in infos}
    assert len(found) == len(infos)
    assert ("http://many.example/", "fra") in found
    assert ("http://many.example/", "nyc") in found
    assert ("http://big.example/news/", "fra") in found
    assert ("http://big.example/shop/", "fra") in found
    assert ("http://big.example/", "ath") in found
    assert ("http://[2001:db8::1]/", "nyc") in found
    one = found["https://a.example/", "fra"]
    assert one["key"] == "192.0.2.0/25"
    assert one["metadata"] == {"crawler": {"values": ["fra"]}, "subnet": {"values": ["192.0.2.0/25"]}}


def test_queue_of_a_wide_subnet_is_no_more_than_a_block(store: StorePort) -> None:
    """One delay for all sites of a /22 would stop a crawl."""
    (line,) = exported(store, "urlfrontier", "alone.example")[0].splitlines()
    info = json.loads(line)["discovered"]["info"]
    assert info["key"] == "198.51.100.0/24"
    assert info["metadata"]["subnet"]["values"] == ["198.51.100.0/22"]


def test_same_crawler_for_two_vantages_has_a_url_once(store: StorePort) -> None:
    twice = [assignment("many.example", "203.0.113.5", "fra", vantage=name) for name in ("eu", "us")]
    store.assignments.put_many(twice)
    text, left_out = exported(store, "urlfrontier", "many.example")
    assert len(text.splitlines()) == 1
    assert reasons(left_out) == {"its crawler has it for another vantage already": ["many.example from us"]}


def test_storm_seeds_name_the_block_as_ip(store: StorePort) -> None:
    text, _ = exported(store, "stormcrawler-seeds", crawler="fra")
    assert "https://a.example/\tip=192.0.2.0/25\tcrawler=fra\tsubnet=192.0.2.0/25\n" in text
    assert "http://many.example/\tip=203.0.113.0/24\tcrawler=fra\tsubnet=203.0.113.0/24\tvantage=eu\n" in text
    assert all("crawler=fra" in line for line in text.splitlines())
    settings = yaml.safe_load(exported(store, "stormcrawler-settings", crawler="fra")[0])["config"]
    assert settings["urlfrontier.crawlid"] == "fra"
    assert settings["partition.url.mode"] == "byIP"


# --- Heritrix


def owner_of(queue: str, lines: dict[str, str]) -> str:
    """Slow and obviously right: the crawler of the first line that is not before the name."""
    return lines[min((key for key in lines if key >= queue), default=min(lines))]


def map_of(text: str) -> dict[str, str]:
    return dict(line.split() for line in text.splitlines())


def test_map_gives_hosts_to_their_owners_and_nothing_else(store: StorePort) -> None:
    text, left_out = exported(store, "heritrix-map")
    lines = map_of(text)
    assert owner_of("example,a,", lines) == "fra"
    assert owner_of("example,port,#8080", lines) == "fra"
    assert owner_of("example,a,+3", lines) == "fra"
    assert owner_of("org,example,", lines) == "ath"
    assert owner_of("192.0.2.50", lines) == "ath"
    assert owner_of("192.0.2.50#8080", lines) == "ath"
    assert owner_of("example,big,", lines) == "ath"
    for other in ("example,", "example,a,www,", "example,aa,", "org,example,www,", "192.0.2.5", "zone,"):
        assert owner_of(other, lines) == "DEFAULT", other
    assert "seen from several vantages" in " ".join(reasons(left_out))
    assert reasons(left_out)["its name is an IPv6 address, which this format cannot hold"] == ["2001:db8::1"]
    assert any("big.example" in line and "pieces" in line for line in left_out.lines())


def test_seeds_go_where_the_map_sends_them(store: StorePort) -> None:
    lines = map_of(exported(store, "heritrix-map")[0])
    for crawler in CRAWLERS:
        hosts = [url.split("/")[2] for url in exported(store, "heritrix-seeds", crawler=crawler)[0].split()]
        owners = {owner_of(queue_of(host.partition(":")[0]), lines) for host in hosts}
        assert owners == {crawler}
    text, _ = exported(store, "heritrix-seeds", "http://big.example/news/1.html", crawler="ath")
    assert text == "http://big.example/news/1.html\n"


LABEL = st.text("ab-0", min_size=1, max_size=2).filter(lambda text: not text.startswith("-"))
HOSTS = st.lists(LABEL, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "x"]))
MANY_HOSTS = st.dictionaries(
    HOSTS | st.from_regex(r"10\.0\.[0-9]{1,2}\.1", fullmatch=True), st.sampled_from("pqr")
)


@given(MANY_HOSTS, HOSTS, st.sampled_from(["", "#80", "+1", "+12"]))
def test_map_of_any_hosts_is_exact(owners: dict[str, str], other: str, suffix: str) -> None:
    from ipmicra.app.export import heritrix
    from ipmicra.app.export.scope import ExportScope

    rows = [(row_of(host, crawler),) for host, crawler in owners.items()]
    lines = map_of(heritrix.map_lines(rows, ExportScope()) + heritrix.LAST_LINE)
    for host in (*owners, other):
        assert owner_of(queue_of(host) + suffix, lines) == owners.get(host, "DEFAULT")


def row_of(host: str, crawler: str) -> ExportRow:
    address = site("x", "192.0.2.1").address
    return ExportRow(host=host, url=f"http://{host}", address=address, crawler=crawler, reason="")


# --- Nutch


def test_nutch_hosts_of_a_block_have_one_name(store: StorePort) -> None:
    text, _ = exported(store, "nutch-hosts")
    names = dict(line.split(" ") for line in text.splitlines())
    assert names["a.example"] == "192-0-2-0-25.block.invalid"
    assert names["example.org"] == names["big.example"] == "192-0-2-0-24.block.invalid"
    assert names["six.example"] == "2001-db8-48.block.invalid"
    assert names["[2001:db8::1]"] == "2001-db8-48.block.invalid"


def test_nutch_filter_and_seeds_of_a_crawler_have_its_hosts_only(store: StorePort) -> None:
    text, left_out = exported(store, "nutch-domains", crawler="ath")
    assert text.split() == ["192.0.2.50", "big.example", "example.org"]
    assert any("example.org" in line and "subdomains" in line for line in left_out.lines())
    seeds, _ = exported(store, "nutch-seeds", crawler="ath")
    assert "http://example.org/\tcrawler=ath\tsubnet=192.0.2.0/24\n" in seeds
    _, left_out = exported(store, "nutch-seeds", crawler="nyc")
    assert ["2001:db8::1"] in reasons(left_out).values()


def test_nutch_settings_name_the_plugins_of_every_scope(store: StorePort) -> None:
    text, _ = exported(store, "nutch-settings", crawler="fra")
    values = dict(re.findall("<name>(.*)</name><value>(.*)</value>", text))
    assert values["urlnormalizer.scope.partition"].endswith("HostURLNormalizer")
    others = [name for name in values if name.startswith("urlnormalizer.scope") and "partition" not in name]
    assert len(others) == 8
    assert not any("host" in values[name] for name in others)


def test_host_that_is_part_of_the_scheme_is_left_out(store: StorePort) -> None:
    store.sites.put_many([site("http", "192.0.2.3")], 1.0)
    store.assignments.put_many([assignment("http", "192.0.2.3", "fra")])
    text, left_out = exported(store, "nutch-hosts", "http")
    assert text == ""
    assert reasons(left_out) == {"its name is a part of `https://`, where Nutch would replace it": ["http"]}


# --- browsertrix


def test_patterns_match_their_hosts_and_no_others(store: StorePort) -> None:
    text, left_out = exported(store, "browsertrix", proxies={"nyc": "http://nyc.example:3128"})
    found = yaml.safe_load(text)
    assert found["proxies"] == {"fra": PROXY, "nyc": "http://nyc.example:3128"}

    def proxy_of(url: str) -> str | None:
        return next((name for rx, name in found["matchHosts"].items() if re.search(rx, url)), None)

    assert proxy_of("https://a.example/x") == "fra"
    assert proxy_of("http://port.example:8080/") == "fra"
    assert proxy_of("http://[2001:db8::1]/") == "nyc"
    assert proxy_of("https://aaexample/") is None
    assert proxy_of("https://www.a.example/") is None
    assert proxy_of("https://x.example/?u=https://a.example/") is None
    missing = "no proxy of ath is known: use --proxy ath=URL, or its label proxy=URL"
    assert reasons(left_out)[missing] == ["192.0.2.50", "big.example", "example.org"]


def test_proxies_without_a_url_are_refused() -> None:
    with pytest.raises(InputError, match="CRAWLER=URL"):
        read_proxies(["fra"])


# --- plain


def test_hosts_file_has_names_and_addresses(store: StorePort) -> None:
    text, left_out = exported(store, "hosts")
    assert "192.0.2.1 a.example\n" in text
    assert "2001:db8:0:1::1 six.example\n" in text
    assert reasons(left_out)["its name is its address"] == ["192.0.2.50", "2001:db8::1"]


def test_seed_that_is_no_host_or_not_known_is_left_out(store: StorePort) -> None:
    text, left_out = exported(
        store, "seeds", "a.example", "no host", "192.0.2.0/24", "new.example", "bücher.example", crawler="nyc"
    )
    assert text == "http://xn--bcher-kva.example/\n"
    assert reasons(left_out) == {
        "no address, prefix, range, host name or file": ["no host"],
        "a range of addresses is no site": ["192.0.2.0/24"],
        "not known here: run `ipmicra delegate` or `ipmicra assign` for it": ["new.example"],
    }


def test_urls_of_a_list_go_to_the_piece_that_has_their_directory(store: StorePort) -> None:
    urls = ("http://big.example/news/1.html", "http://big.example/about", "https://a.example/x?y=1#z")
    assert exported(store, "seeds", *urls, crawler="fra")[0].split() == [urls[0], "https://a.example/x?y=1"]
    assert exported(store, "seeds", *urls, crawler="ath")[0].split() == [urls[1]]


# --- files


def test_kit_is_a_folder_with_a_file_for_each_crawler(store: StorePort, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "seeds-old.txt").write_text("http://gone.example/\n")
    report = export_files(StoreSource(store), ExportRequest(program="nutch"), folder)
    names = {one.name for one in folder.iterdir()}
    wanted = {f"{part}-{name}.{end}" for name in CRAWLERS for part, end in PER_CRAWLER}
    assert names == {*wanted, "host-urlnormalizer.txt", "seeds-old.txt"}
    assert (folder / "seeds-old.txt").read_bytes() == b""
    assert report.sites == len(SITES)
    for name in CRAWLERS:
        assert (folder / f"seeds-{name}.txt").read_text() == exported(store, "nutch-seeds", crawler=name)[0]


PER_CRAWLER = (("domain-urlfilter", "txt"), ("seeds", "txt"), ("nutch-site", "xml"))


def test_export_that_fails_leaves_the_old_files(store: StorePort, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    export_files(StoreSource(store), ExportRequest(program="plain"), folder)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}

    class Breaking(StoreSource):
        def sites(self) -> Iterator[list[tuple[ExportRow, ...]]]:
            yield next(super().sites())
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        export_files(Breaking(store), ExportRequest(program="plain"), folder)
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def test_every_export_of_an_empty_store_is_well_formed(tmp_path: Path) -> None:
    with Store.open(MEMORY) as empty:
        for name in (*KITS, *FORMATS):
            report = export_files(StoreSource(empty), ExportRequest(program=name), tmp_path / name)
            assert report.sites == 0
            assert report.left_out.count == 0


def test_unknown_names_are_refused_with_those_that_there_are(store: StorePort) -> None:
    with pytest.raises(InputError, match="urlfrontier, stormcrawler"):
        kit_named("wget")
    with pytest.raises(InputError, match=r"ipmicra\.crawlee"):
        kit_named("crawlee")
    with pytest.raises(InputError, match="no crawler 'sfo'"):
        exported(store, "seeds", crawler="sfo")
    with pytest.raises(InputError, match="name a folder with -o"):
        exported(store, "nutch")


# --- reading


def test_sites_are_read_once_whatever_the_size_of_parts(store: StorePort) -> None:
    whole = [rows for part in read_sites(store) for rows in part]
    for most in (1, 2, 3, 5):
        reader, found, after = SiteReader(store), [], ""
        while part := reader.after(after, most):
            found += part
            after = part[-1][0].host
        assert [rows[0].host for rows in found] == [rows[0].host for rows in whole], most


def test_mark_changes_with_everything_that_is_exported(store: StorePort) -> None:
    marks = [export_mark(store)]

    def changed() -> bool:
        marks.append(export_mark(store))
        return len(set(marks)) == len(marks)

    store.assignments.put_many([assignment("a.example", "192.0.2.1", "nyc")])
    assert changed()
    batch = store.batches.begin("k2", "x", 1.0)
    store.results.add_many(batch.id, [decision("open.example", "203.0.113.78", "203.0.113.0/24", "ath")])
    assert changed()
    store.results.forget(["open.example"], [])
    assert changed()
    assert export_mark(store) == marks[-1]
