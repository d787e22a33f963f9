"""The sample dumps through the whole path, record by record beside the slow reading."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest

from ipmicra import BuildReport, Fate, Hierarchy, Reason, build
from ipmicra.edge.dumps.reading import inspect, read_dump
from ipmicra.parse.dialect import Dialect
from tests.reference.fast_reading import in_order, spelled_out
from tests.reference.slow_hierarchy import BITS, SlowRow, holder_key, holder_of, lineage, merged, nested
from tests.reference.slow_parser import SlowDump, SlowOrganisation
from tests.reference.test_sample_dumps import read, unpacked

SAMPLE = Path(__file__).resolve().parents[2] / "rir_dumps" / "sample"
NAMES = sorted(path.name for path in SAMPLE.iterdir())
KINDS = {Dialect.RPSL: "ORG", Dialect.LACNIC: "OWNERID", Dialect.ARIN: "ORGID"}
TYPES: dict[int, type[IPv4Address | IPv6Address]] = {4: IPv4Address, 6: IPv6Address}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    return build([SAMPLE / name for name in NAMES], tmp_path_factory.mktemp("samples") / "a.ipm")


@pytest.fixture(scope="module")
def hierarchy(report: BuildReport) -> Hierarchy:
    return Hierarchy.open(report.output)


@cache
def slow(name: str) -> SlowDump:
    return read(name, unpacked(name, (SAMPLE / name).read_bytes()))


@cache
def slow_rows(family: int) -> list[SlowRow]:
    registrations = [each for name in NAMES for each in slow(name).registrations]
    return nested(merged(registrations, family), BITS[family])


def organisations() -> list[tuple[str, SlowOrganisation]]:
    return [
        (KINDS[inspect(SAMPLE / name).dialect], each)
        for name in NAMES
        if slow(name).organisations
        for each in slow(name).organisations
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_dump_is_read_as_the_slow_twin_reads_it(name: str) -> None:
    assert spelled_out(read_dump(inspect(SAMPLE / name))) == in_order(slow(name))


def test_tallies_are_those_of_the_slow_twin(report: BuildReport) -> None:
    assert {dump.info.path.name: dump.tally for dump in report.dumps} == {
        name: slow(name).tally for name in NAMES
    }
    assert report.tally == sum((dump.tally for dump in report.dumps[1:]), report.dumps[0].tally)


def test_findings_are_those_of_the_slow_twin(report: BuildReport) -> None:
    found = Counter(
        (each.dump, each.line, each.fate, each.reason)
        for each in report.findings
        if each.fate is not Fate.KEPT
    )
    assert found == Counter((name, *each) for name in NAMES for each in slow(name).findings)
    merged_away = [each for each in report.findings if each.reason is Reason.DUPLICATE]
    registered = sum(len(slow(name).registrations) for name in NAMES)
    kept = sum(len({row.whole for row in slow_rows(family) if row.whole.registration}) for family in (4, 6))
    assert (len(merged_away), report.duplicates) == (registered - kept, registered - kept)
    assert report.subnets - kept == len(
        [row for family in (4, 6) for row in slow_rows(family)]
    ) - kept - 2 + sum(slow_rows(family)[0].whole.registration is not None for family in (4, 6))


def test_every_registration_is_the_subnet_of_the_slow_twin(hierarchy: Hierarchy) -> None:
    rows = [row for family in (4, 6) for row in slow_rows(family)]
    assert len(hierarchy) == len(rows)
    for i, row in enumerate(rows):
        subnet = hierarchy.subnet(i)
        assert (int(subnet.first), int(subnet.last), subnet.depth) == (row.first, row.last, row.depth)
        registered = row.whole.registration
        if registered is None:
            continue
        days = (subnet.date.toordinal() - 719162) if subnet.date else 0
        assert days == registered.date
        assert (
            subnet.netname or "",
            subnet.status or "",
            subnet.country or "",
            subnet.geoloc or "",
            subnet.geofeed or "",
            subnet.registry,
        ) == (
            registered.netname,
            registered.status,
            registered.country,
            registered.geoloc,
            registered.geofeed,
            registered.registry,
        )


def test_every_holder_is_that_of_the_slow_twin(hierarchy: Hierarchy) -> None:
    known = organisations()
    numbers: dict[tuple[object, ...], int] = {}
    rows = [row for family in (4, 6) for row in slow_rows(family)]
    for i, row in enumerate(rows):
        registered, found = row.whole.registration, hierarchy.subnet(i).organisation
        holder = holder_of(registered, known) if registered else None
        key = holder_key(registered) if registered else None
        assert (found is None) == (holder is None)
        if found is None or holder is None or key is None:
            continue
        assert found.number == numbers.setdefault(key, found.number)
        assert found.evidence is holder.evidence
        assert (found.handle or "").upper() == holder.handle.upper()
        assert (found.address or "", found.country or "") == (holder.address, holder.country)
        if holder.handle:
            assert (found.name or "") == holder.name
    assert len(set(numbers.values())) == len(numbers) == len(hierarchy.organisations)


@pytest.mark.parametrize("family", [4, 6])
def test_lineages_hold_every_range_of_the_samples_that_holds_the_address(
    family: int, hierarchy: Hierarchy
) -> None:
    ranges = list({row.whole for row in slow_rows(family)})
    for whole in ranges:
        for address in (whole.first, whole.last):
            found = [
                hierarchy.registered_range(each.row) for each in hierarchy.lineage(TYPES[family](address))
            ]
            assert [(int(first), int(last)) for first, last in found] == [
                (each.first, each.last) for each in lineage(ranges, address)
            ]


def test_same_samples_give_the_same_bytes(report: BuildReport, tmp_path: Path) -> None:
    again = build([SAMPLE / name for name in reversed(NAMES)], tmp_path / "b.ipm")
    assert again.output.read_bytes() == report.output.read_bytes()
    assert replace(again.edition, dumps=()) == replace(report.edition, dumps=())
