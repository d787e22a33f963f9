"""The sample dumps: what they must hold to be of use to other tests."""

from __future__ import annotations

import gzip
import io
import zipfile
from functools import cache
from pathlib import Path

import pytest

from benchmarks.sample_dumps import MEMBERS, MOST_MEMBERS, SEED, packed, sample_dumps
from ipmicra.model.finding import FATE_OF, Fate, Reason
from tests.reference.slow_parser import (
    SlowDump,
    read_iana,
    read_paragraphs,
    read_statistics,
    registry_of_dump,
)

SAMPLE = Path(__file__).resolve().parents[2] / "rir_dumps" / "sample"


def unpacked(name: str, data: bytes) -> bytes:
    """Decompress a dump as its name says."""
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.endswith(".zip"):
        return zipfile.ZipFile(io.BytesIO(data)).read("arin_db.txt")
    return data


def read(name: str, data: bytes) -> SlowDump:
    """Read a dump in the dialect that its name stands for."""
    if name.endswith(".csv"):
        return read_iana(data)
    if name.startswith("delegated-"):
        return read_statistics(data)
    return read_paragraphs(data, registry_of_dump(data))


@cache
def dumps(members: int = MEMBERS) -> dict[str, SlowDump]:
    """Read all dumps of a sample."""
    return {name: read(name, data) for name, data in sample_dumps(SEED, members).items()}


@cache
def ranges() -> frozenset[tuple[int, int, int]]:
    """Return every range of the sample once: family, first, last."""
    return frozenset(
        (each.family, each.first, each.last) for dump in dumps().values() for each in dump.registrations
    )


def depth(wanted: tuple[int, int, int]) -> int:
    """Count the ranges that hold a range, itself included."""
    family, first, last = wanted
    return sum(f == family and low <= first and last <= high for f, low, high in ranges())


def test_files_are_what_the_script_writes() -> None:
    written = {path.name: unpacked(path.name, path.read_bytes()) for path in SAMPLE.iterdir()}
    assert written == sample_dumps(SEED, MEMBERS)


def test_packing_is_the_same_each_time() -> None:
    for name in ("a.gz", "a.zip", "a"):
        assert packed(name, b"text") == packed(name, b"text")
        assert name == "a.zip" or unpacked(name, packed(name, b"text")) == b"text"


def test_every_reason_of_the_parser_occurs() -> None:
    found = {reason for dump in dumps().values() for _, _, reason in dump.findings}
    assert found == {reason for reason in Reason if FATE_OF[reason] is not Fate.KEPT}


def test_subnets_nest_deeply() -> None:
    assert max(depth(each) for each in ranges() if each[0] == 4) >= 9
    assert max(depth(each) for each in ranges() if each[0] == 6) >= 6


def test_same_ranges_come_from_several_dumps() -> None:
    assert sum(len(dump.registrations) for dump in dumps().values()) > len(ranges()) + 50


def test_some_ranges_overlap_in_part() -> None:
    assert any(
        a[0] == b[0] and a[1] < b[1] <= a[2] < b[2] for a in ranges() for b in ranges()
    )  # 62.241.0.0-62.241.2.127 and 62.241.2.0-62.241.3.255


def test_some_ranges_are_no_prefixes() -> None:
    sizes = [last - first + 1 for family, first, last in ranges() if family == 4]
    assert 73728 in sizes
    assert sum(size.bit_count() > 1 for size in sizes) > 10


def test_some_organisations_are_missing() -> None:
    named = {each.handle for dump in dumps().values() for each in dump.registrations if each.holder == "ORG"}
    known = {each.handle for dump in dumps().values() for each in dump.organisations}
    assert "ORG-GONE1-RIPE" in named - known
    assert len(named & known) > 5


def test_encodings_and_line_ends_differ_between_files() -> None:
    plain = sample_dumps(SEED, MEMBERS)
    with pytest.raises(UnicodeDecodeError):
        plain["ripe.db.inetnum.gz"].decode()
    assert not plain["apnic.db.inetnum.gz"].decode().isascii()
    assert plain["arin_nets.txt"].count(b"\r\n") == plain["arin_nets.txt"].count(b"\n")


def test_a_grown_sample_has_the_same_hard_cases() -> None:
    grown = dumps(MOST_MEMBERS)
    assert sum(len(dump.registrations) for dump in grown.values()) > 2000
    for name, dump in dumps().items():
        is_statistics = name.startswith("delegated-")
        kept = [reason for _, _, reason in dump.findings if not (is_statistics and reason is Reason.ASN)]
        more = [
            reason for _, _, reason in grown[name].findings if not (is_statistics and reason is Reason.ASN)
        ]
        assert more == kept
