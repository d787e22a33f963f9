"""Laws of parsing: nothing vanishes, the slow twin agrees, and chunks do not show."""

from __future__ import annotations

import gzip
import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.dumps import reading as dumps
from ipmicra.model.finding import FATE_OF, Fate, Reason
from ipmicra.model.registry import Registry
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.parser import Parser, parse_bytes
from tests.reference.fast_reading import in_order, spelled_out
from tests.reference.slow_parser import SlowDump, read_iana, read_paragraphs, read_statistics
from tests.strategies import damaged, iana_dumps, paragraph_dumps, statistics_dumps

REGISTRIES = st.sampled_from([Registry.NONE, Registry.LACNIC, Registry.RIPE])
TEXTS: dict[Dialect, st.SearchStrategy[bytes]] = {
    Dialect.RPSL: paragraph_dumps(),
    Dialect.STATISTICS: statistics_dumps(),
    Dialect.IANA: iana_dumps(),
}
SLOW: dict[Dialect, Callable[[bytes, Registry], SlowDump]] = {
    Dialect.RPSL: read_paragraphs,
    Dialect.STATISTICS: lambda data, _registry: read_statistics(data),
    Dialect.IANA: lambda data, _registry: read_iana(data),
}
HEAD = len(b"Prefix,Designation,Date")
"""What a table of IANA's is recognised by, and the names of the columns compared here."""


def assert_adds_up(columns: Columns) -> None:
    """See that every paragraph that is not kept has findings of its own fate, and no other."""
    fates: dict[int, set[Fate]] = {}
    for finding in columns.spell_findings("dump"):
        fates.setdefault(finding.line, set()).add(finding.fate)
    assert all(len(found) == 1 for found in fates.values())
    counted = [next(iter(found)) for found in fates.values()]
    tally = columns.tally
    assert counted.count(Fate.REPAIRED) == tally.repaired
    assert counted.count(Fate.SKIPPED) == tally.skipped
    assert counted.count(Fate.UNKNOWN) == tally.unknown
    registered = len(columns.rows4) + len(columns.rows6)
    assert registered <= tally.kept + tally.repaired <= registered + len(columns.organisations)
    assert all(FATE_OF[Reason(int(reason))] is not Fate.KEPT for reason in columns.findings.reason)


def read_in_chunks(data: bytes, dialect: Dialect, registry: Registry, places: list[int]) -> Columns:
    """Feed a parser with the text cut at the given places."""
    parser = Parser(dialect, registry)
    edges = [0, *places, len(data)]
    for start, end in itertools.pairwise(edges):
        piece = data[start:end]
        parser.add(parser.parse(piece, len(piece), kernels.Sheet()))
    return parser.finish()


def breaks(data: bytes, dialect: Dialect) -> list[int]:
    """Return the places at which the dialect lets a text be cut."""
    marks = [b"\n"] if dialect is Dialect.STATISTICS else [b"\n\n", b"\n\r\n"]
    return [
        at + len(mark)
        for at in range(len(data))
        for mark in marks
        if data.startswith(mark, at) and at + len(mark) < len(data)
    ]


@pytest.mark.parametrize("dialect", TEXTS)
@given(data=st.data(), registry=REGISTRIES)
def test_sound_text_is_read_as_the_slow_twin_reads_it(
    dialect: Dialect, data: st.DataObject, registry: Registry
) -> None:
    text = data.draw(TEXTS[dialect])
    read = parse_bytes(text, dialect, registry)
    assert_adds_up(read)
    assert spelled_out(read) == in_order(SLOW[dialect](text, registry))


@pytest.mark.parametrize("dialect", TEXTS)
@given(data=st.data())
def test_damaged_text_is_read_as_the_slow_twin_reads_it(dialect: Dialect, data: st.DataObject) -> None:
    text = data.draw(damaged(TEXTS[dialect], keep=HEAD if dialect is Dialect.IANA else 0))
    read = parse_bytes(text, dialect, Registry.NONE)
    assert_adds_up(read)
    assert spelled_out(read) == in_order(SLOW[dialect](text, Registry.NONE))


@pytest.mark.parametrize("dialect", [Dialect.RPSL, Dialect.STATISTICS])
@given(text=st.binary(max_size=200) | st.text("inetum:019./ \n\t+#|-é").map(str.encode))
def test_any_bytes_are_read_as_the_slow_twin_reads_them(dialect: Dialect, text: bytes) -> None:
    read = parse_bytes(text, dialect, Registry.NONE)
    assert_adds_up(read)
    assert spelled_out(read) == in_order(SLOW[dialect](text, Registry.NONE))


@pytest.mark.parametrize("dialect", [Dialect.RPSL, Dialect.STATISTICS])
@given(data=st.data())
def test_cutting_a_text_between_records_changes_nothing(dialect: Dialect, data: st.DataObject) -> None:
    text = data.draw(TEXTS[dialect] | damaged(TEXTS[dialect]))
    allowed = breaks(text, dialect)
    chosen = data.draw(st.lists(st.sampled_from(allowed), unique=True)) if allowed else []
    whole = parse_bytes(text, dialect, Registry.ARIN)
    pieces = read_in_chunks(text, dialect, Registry.ARIN, sorted(chosen))
    assert spelled_out(pieces) == spelled_out(whole)
    details = [finding.detail for finding in whole.spell_findings("a")]
    assert [finding.detail for finding in pieces.spell_findings("a")] == details


@pytest.mark.parametrize("dialect", TEXTS)
@given(data=st.data())
def test_size_of_the_chunks_and_packing_do_not_show(dialect: Dialect, data: st.DataObject) -> None:
    text = data.draw(TEXTS[dialect])
    size = data.draw(st.sampled_from([1, 2, 3, 7, 16, 50, 333]))
    is_packed = data.draw(st.booleans())
    whole = parse_bytes(text, dialect, Registry.NONE)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "dump")
        path.write_bytes(gzip.compress(text) if is_packed else text)
        patch.setattr(dumps, "CHUNK_BYTES", size)
        info = dumps.DumpInfo(
            path=path, dialect=dialect, registry=Registry.NONE, size_bytes=0, date="2020-01-01"
        )
        read = dumps.read_dump(info)
    assert spelled_out(read) == spelled_out(whole)
    assert [found.detail for found in read.spell_findings("a")] == [
        found.detail for found in whole.spell_findings("a")
    ]


@given(texts=st.lists(paragraph_dumps() | statistics_dumps(), max_size=3), dropped=statistics_dumps())
def test_dumps_that_are_joined_or_appended_say_what_each_says(texts: list[bytes], dropped: bytes) -> None:
    dialects = [Dialect.STATISTICS if b"|ipv" in text else Dialect.RPSL for text in texts]
    each = [spelled_out(parse_bytes(text, dialect)) for text, dialect in zip(texts, dialects, strict=True)]
    joined, appended = kernels.Gatherer(), kernels.Gatherer()
    for text, dialect in zip(texts, dialects, strict=True):
        parser = Parser(dialect, Registry.NONE)
        parser.add(parser.parse(text, len(text), kernels.Sheet()))
        joined.join(parser.gatherer)
        parser = Parser(Dialect.STATISTICS, Registry.NONE, appended)
        parser.add(parser.parse(dropped, len(dropped), kernels.Sheet()))
        appended.drop()
        parser = Parser(dialect, Registry.NONE, appended)
        parser.add(parser.parse(text, len(text), kernels.Sheet()))
    for gatherer in (joined, appended):
        whole = spelled_out(Columns.of(gatherer))
        for name in ("registrations", "organisations", "findings"):
            expected = [found for dump in each for found in getattr(dump, name)]
            assert sorted(getattr(whole, name), key=repr) == sorted(expected, key=repr)


@given(text=paragraph_dumps())
def test_details_of_findings_start_as_the_paragraph_does(text: bytes) -> None:
    read = parse_bytes(text, Dialect.RPSL, Registry.NONE)
    lines = text.split(b"\n")
    for finding in read.spell_findings("dump"):
        line = lines[finding.line - 1].removesuffix(b"\r")
        assert len(finding.detail) <= 80
        if finding.detail and line.isascii():
            assert line.decode().startswith(finding.detail)
