"""The generator of big dumps, on small ones."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from benchmarks.dump_styles import STYLES
from benchmarks.generate import Summary, generate, subnets
from ipmicra.model.registry import Registry
from tests.reference.slow_parser import SlowDump, read_paragraphs, read_statistics, registry_of_dump

PARAGRAPH_STYLES = ("ripe", "apnic", "arin", "lacnic")
REGISTRIES = {
    "ripe": Registry.RIPE,
    "apnic": Registry.APNIC,
    "arin": Registry.ARIN,
    "lacnic": Registry.LACNIC,
}


@cache
def made(style: str, objects: int) -> tuple[SlowDump, Summary]:
    """Generate a dump and read it back slowly."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.gz"
        summary = generate(style, path, objects, seed=1)
        packed = path.read_bytes()
    data = gzip.decompress(packed)
    assert (len(data), len(packed)) == (summary.bytes_plain, summary.bytes_gz)
    if style == "statistics":
        return read_statistics(data), summary
    return read_paragraphs(data, registry_of_dump(data)), summary


@pytest.mark.parametrize("style", sorted(STYLES))
def test_a_small_dump_is_understood_to_the_last_paragraph(style: str) -> None:
    dump, summary = made(style, 200)
    headings = 3 if style == "statistics" else 0
    assert summary.objects == 200
    assert dump.tally.unknown == 0
    assert dump.tally.paragraphs == 200 + headings
    assert dump.tally.skipped <= headings + 2


@pytest.mark.parametrize("style", PARAGRAPH_STYLES)
def test_shares_are_those_of_real_dumps(style: str) -> None:
    dump, summary = made(style, 5000)
    rows = dump.registrations
    share = {kind: count / summary.objects for kind, count in summary.kinds.items()}
    assert 0.14 < share["inet6num"] < 0.16
    assert 0.001 < share["duplicate"] < 0.003
    assert 0.001 < share["overlap"] < 0.003
    assert 0.01 < share["not_prefix"] < 0.02
    assert 0.005 < share["foreign"] < 0.015
    assert 0.005 < share["continued"] < 0.015
    assert sum(share[kind] for kind in ("reversed", "host_bits", "out_of_range", "leading_zero")) > 0.002
    assert all(row.date and row.status for row in rows)
    assert style == "arin" or all(row.country for row in rows)  # ARIN has it with the organisation
    assert {row.registry for row in rows} == {REGISTRIES[style]}
    if style == "lacnic":
        assert all(row.holder == "OWNERID" for row in rows)
    else:
        assert 0.2 < sum(row.handle != "" for row in rows) / len(rows) < 0.35
        assert 0.4 < len({row.netname for row in rows}) / len(rows) < 0.7


@pytest.mark.parametrize(("style", "least", "most"), [("ripe", 8, 12), ("apnic", 7, 10)])
def test_dumps_compress_about_as_real_ones_do(style: str, least: float, most: float, tmp_path: Path) -> None:
    summary = generate(style, tmp_path / "dump.gz", 20_000, 1)
    assert least <= summary.bytes_plain / summary.bytes_gz <= most


def test_the_same_seed_gives_the_same_dump(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generate("ripe", tmp_path / name, 300, seed)
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again
    assert first != other


def depths(first: list[int], last: list[int]) -> list[int]:
    """Count the ranges around each range by a stack; ranges must nest."""
    stack: list[int] = []
    found = []
    for start, end in sorted(zip(first, last, strict=True), key=lambda pair: (pair[0], -pair[1])):
        while stack and stack[-1] < start:
            stack.pop()
        assert not stack or end <= stack[-1]
        stack.append(end)
        found.append(len(stack))
    return found


@pytest.mark.parametrize("count", [1, 2, 300, 5001, 120_000])
def test_subnets_nest_and_no_two_are_alike(count: int) -> None:
    first, last = subnets(count, 7)
    assert (first.dtype.name, last.dtype.name, len(first)) == ("uint32", "uint32", count)
    assert len(set(zip(first.tolist(), last.tolist(), strict=True))) == count
    found = depths(first.tolist(), last.tolist())
    if count >= 300:
        assert max(found) >= 4
