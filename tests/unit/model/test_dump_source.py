"""The catalogue of dumps."""

from __future__ import annotations

from urllib.parse import urlsplit

from ipmicra.model.dump_source import DUMP_SOURCES, KEY_MARK, DumpKind
from ipmicra.model.registry import Registry

REGIONAL = {Registry.AFRINIC, Registry.APNIC, Registry.ARIN, Registry.LACNIC, Registry.RIPE}


def test_every_dump_has_a_file_name_of_its_own() -> None:
    names = [source.name for source in DUMP_SOURCES]
    assert len(set(names)) == len(names)
    assert all("/" not in name and not name.startswith(".") for name in names)


def test_every_dump_comes_over_an_encrypted_connection() -> None:
    urls = [url for source in DUMP_SOURCES for url in (source.url, source.checksum_url) if url]
    assert {urlsplit(url).scheme for url in urls} == {"https"}


def test_each_registry_publishes_both_whois_and_statistics() -> None:
    for kind in (DumpKind.WHOIS, DumpKind.STATISTICS):
        assert {source.registry for source in DUMP_SOURCES if source.kind is kind} == REGIONAL
    assert {source.registry for source in DUMP_SOURCES if source.kind is DumpKind.IANA} == {Registry.IANA}


def test_statistics_lie_beside_their_checksums() -> None:
    for source in DUMP_SOURCES:
        has_checksum = source.kind is DumpKind.STATISTICS
        assert source.checksum_url == (f"{source.url}.md5" if has_checksum else None)


def test_only_arins_bulk_dump_needs_a_key() -> None:
    assert [source.name for source in DUMP_SOURCES if source.needs_key] == ["arin_db.zip"]
    assert all((KEY_MARK in source.url) == bool(source.needs_key) for source in DUMP_SOURCES)


def test_mirror_has_dumps_and_checksums_by_name_and_asks_for_no_key() -> None:
    for source in DUMP_SOURCES:
        mirrored = source.with_key("secret").at_mirror("http://mirror.example/dumps/")
        assert mirrored.url == f"http://mirror.example/dumps/{source.name}"
        assert mirrored.checksum_url == (f"{mirrored.url}.md5" if source.checksum_url else None)
        assert mirrored.needs_key is mirrored.key is None
