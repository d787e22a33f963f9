"""The generator of big dumps, on small ones."""

from __future__ import annotations

import gzip
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from benchmarks.dump_styles import STYLES
from benchmarks.generate import Summary, generate, subnets
from ipmicra.model.finding import Reason
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


@pytest.mark.parametrize("style", sorted(STYLES))
def test_the_summary_says_what_is_in_the_dump(style: str) -> None:
    dump, summary = made(style, 5000)
    found = Counter(reason for _, _, reason in dump.findings)
    for reason in (Reason.REVERSED, Reason.HOST_BITS, Reason.OUT_OF_RANGE, Reason.LEADING_ZERO):
        assert found.pop(reason, 0) == summary.kinds[reason.name.lower()]
    assert set(found) <= {Reason.HEADER, Reason.SUMMARY}
    families = Counter(each.family for each in dump.registrations)
    assert families[6] <= summary.kinds["inet6num"] <= families[6] + summary.kinds["out_of_range"]
    if style != "lacnic":
        assert len(dump.organisations) == summary.kinds["organisation"]


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


@pytest.mark.parametrize("style", ["ripe", "apnic"])
def test_every_registration_has_a_maintainer(style: str) -> None:
    dump, _ = made(style, 5000)
    assert all(row.maintainer for row in dump.registrations)


@pytest.mark.parametrize("style", ["ripe", "apnic", "arin"])
def test_named_organisations_are_in_the_dump(style: str) -> None:
    dump, _ = made(style, 5000)
    known = {each.handle for each in dump.organisations}
    assert {row.handle for row in dump.registrations if row.handle} <= known


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


def test_subnets_come_in_random_order_and_some_are_no_prefixes() -> None:
    first, last = subnets(20_000, 7)
    sizes = (last - first).astype(np.int64) + 1
    assert 0.01 < np.mean((sizes & (sizes - 1)) != 0) < 0.02
    assert 0.4 < np.mean(np.diff(first.astype(np.int64)) > 0) < 0.6
