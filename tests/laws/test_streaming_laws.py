"""Laws of long look-ups: what compiled code renders is what Python renders target by target."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from contextlib import redirect_stdout
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.app.describe.hierarchy import NARROWEST, NARROWEST_NUMBERS, LineageDescriber
from ipmicra.app.lookup.lookup import Found, Rendered, look_up, look_up_lines
from ipmicra.cli.options import Format
from ipmicra.cli.output import RecordStream
from ipmicra.edge.files.tables import LOOKED_AT
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy import rendering
from ipmicra.hierarchy.format import read_layout
from ipmicra.hierarchy.rendering import Targets
from tests.examples import at_most
from tests.patience import loops_broken
from tests.reference.fast_building import file_bytes, spelled_address
from tests.strategies import addresses, ends

LEAD = ["0.0.0.1"] * LOOKED_AT
"""What a list starts with, so that its rest is read in runs."""
FORMATS = (Format.CSV, Format.JSONL, Format.JSON, Format.PARQUET)
TEXTS = (
    *("", "PLAIN-NET", 'a "quoted" name', "a, b", "x;y|z", "=1+1", "+1 2", "-3", "-37.8 144.9", "@x", "it's"),
    *("'tis", "C:\\new", "tab\there", "Größe", "Παράδειγμα", "\x1b[31mred", "a\x7fb", "a\u202eb", "n" * 130),
    *("https://example.org/g.csv", "37.98 23.73", "\N{FULLWIDTH EQUALS SIGN}1", "\N{NO-BREAK SPACE}x"),
)


@st.composite
def paragraphs(draw: st.DrawFn) -> str:
    """Return a registration or an organisation, with texts that are plain, hostile or neither."""
    text = st.sampled_from(TEXTS)
    if draw(st.integers(0, 4)) == 0:
        handle = draw(st.sampled_from(["ORG-A", "ORG-B"]))
        return f"organisation: {handle}\norg-name: {draw(text)}\naddress: {draw(text)}\n"
    family = draw(st.sampled_from([4, 6]))
    first, last = (spelled_address(end, family) for end in draw(ends(family)))
    lines = [f"{'inetnum' if family == 4 else 'inet6num'}: {first} - {last}"]
    for key in ("netname", "descr", "status", "geoloc", "mnt-by", "owner", "city"):
        if draw(st.booleans()):
            lines.append(f"{key}: {draw(text)}")
    lines.append(f"org: {draw(st.sampled_from(['', 'ORG-A', 'ORG-B', 'ORG-C']))}")
    lines.append(f"country: {draw(st.sampled_from(['', 'GR', 'DE']))}")
    lines.append(f"source: {draw(st.sampled_from(['', 'RIPE', 'APNIC']))}")
    lines.append(f"last-modified: {draw(st.dates().map(str))}")
    return "\n".join(lines) + "\n"


def spelled(address: IPv4Address | IPv6Address) -> st.SearchStrategy[str]:
    """Return the ways in which people write an address."""
    forms = [str(address), f" {address} ", f"{address}  # comment", f'"{address}"', f"{address}/24"]
    forms += [f"{address} - {address}", f"{address}\r"]
    if isinstance(address, IPv6Address):
        forms += [address.exploded, address.exploded.upper(), f"[{address}]", f"{address}%eth0"]
    else:
        forms += [f"::ffff:{address}", f"::ffff:{int(address) >> 16:x}:{int(address) & 0xFFFF:x}"]
    return st.sampled_from(forms[:1] * 6 + forms)


TARGETS = st.one_of(
    addresses(4).map(IPv4Address).flatmap(spelled),
    addresses(6).map(IPv6Address).flatmap(spelled),
    st.sampled_from(
        ["", "# comment", "10.0.0.256", "10.0.0.0/99", "1.2.3", "::1::", "\N{SNOWMAN}", "1.1.1.1\r2.2.2.2"]
    ),
)


class Printed(io.BytesIO):
    """Keeps what was printed after it is closed, as writers of Parquet do."""

    def close(self) -> None:
        """Stay open."""


def printed(print_format: Format, print_all: Callable[[RecordStream], object]) -> tuple[object, str]:
    """Return what is printed, as a table if it is Parquet, and the error that ends it."""
    raw = Printed()
    error = ""
    with redirect_stdout(io.TextIOWrapper(raw, "utf-8", newline="")):
        try:
            with RecordStream(NARROWEST, [0] * len(NARROWEST), print_format) as stream:
                print_all(stream)
        except Exception as raised:  # noqa: BLE001 - whatever the twin raises
            error = repr(raised)
    if print_format is not Format.PARQUET or error:
        return raw.getvalue(), error
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(io.BytesIO(raw.getvalue())), error


def add_found(stream: RecordStream, describer: LineageDescriber, one: Found, print_format: Format) -> None:
    if print_format in {Format.JSON, Format.JSONL}:
        stream.add_json(describer.lineage_json(one))
    else:
        stream.add(describer.narrowest(one))


def assert_same(hierarchy: Hierarchy, path: Path, print_format: Format) -> int:
    """Compare the two ways to look a list up; return how many targets were rendered by compiled code."""
    describer = LineageDescriber(hierarchy)
    rendered = 0

    def one_by_one(stream: RecordStream) -> None:
        for one in look_up(hierarchy, [str(path)]):
            if isinstance(one, Found):
                add_found(stream, describer, one, print_format)

    def in_runs(stream: RecordStream) -> None:
        nonlocal rendered
        is_json = print_format in {Format.JSON, Format.JSONL}
        for one in look_up_lines(hierarchy, [str(path)], is_json=is_json):
            if isinstance(one, Rendered):
                stream.add_lines(one.lines, one.count, NARROWEST_NUMBERS)
                rendered += one.count
            elif isinstance(one, Found):
                add_found(stream, describer, one, print_format)

    assert printed(print_format, in_runs) == printed(print_format, one_by_one)
    return rendered


def written(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "targets.txt"
    path.write_bytes("\n".join(LEAD + lines).encode())
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("streaming")


@given(
    dump=st.lists(paragraphs(), max_size=10),
    targets=st.lists(TARGETS, max_size=12),
    ends_line=st.booleans(),
    worth_notes=st.sampled_from([0, 64]),
)
def test_runs_are_printed_as_targets_one_by_one(
    dump: list[str], targets: list[str], ends_line: bool, worth_notes: int, folder: Path
) -> None:
    hierarchy = Hierarchy(file_bytes("\n".join(dump).encode()))
    path = written(folder, [*targets, *([""] if ends_line else [])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "WORTH_NOTES", worth_notes)
        for print_format in FORMATS:
            assert_same(hierarchy, path, print_format)


@at_most(12)
@given(dump=st.lists(paragraphs(), max_size=10), asked=st.lists(addresses(4) | addresses(6), min_size=1))
def test_rows_of_a_long_run_are_those_of_single_look_ups(dump: list[str], asked: list[int]) -> None:
    hierarchy = Hierarchy(file_bytes("\n".join(dump).encode()))
    spelled = [str(IPv4Address(each) if each < 1 << 32 else IPv6Address(each)) for each in asked]
    data = "".join(f"{each}\n" for each in spelled * (5000 // len(spelled) + 1)).encode()
    run, _end = Targets.read(data, 0)
    found = hierarchy.renderer.rows_of(run).tolist()
    assert len(found) >= 5000
    assert found[: len(asked)] == [hierarchy.row_of(each) for each in spelled]


PLAIN = """inetnum: 10.0.0.0 - 10.0.255.255
netname: WIDE, or not
org: ORG-A
country: GR
status: ALLOCATED PA
geoloc: 1 2
last-modified: 2020-02-29
source: RIPE

inetnum: 10.0.1.0 - 10.1.0.255
netname: OVERLAPPING
descr: Someone

inetnum: 10.0.0.0/28
netname: NARROW
mnt-by: M-1
country: DE
geofeed: https://example.org/g

inet6num: 2001:db8::/32
netname: SIX
org: ORG-A
last-modified: 2148-12-31

inet6num: 2001:db8:1::/48
netname: INNER

organisation: ORG-A
org-name: Alpha
address: 1 Road
country: GR
"""
SOUND = file_bytes(PLAIN.encode())
SPREAD = [
    "10.0.0.7",
    "10.0.0.99",
    "10.0.1.9",
    "10.1.0.1",
    "192.0.2.1",
    "2001:db8::1",
    "2001:db8:1::1",
    "::",
    "ff::",
]


@pytest.mark.parametrize("print_format", FORMATS)
def test_plain_targets_are_all_rendered_by_compiled_code(print_format: Format, tmp_path: Path) -> None:
    path = written(tmp_path, [*SPREAD, ""])
    assert assert_same(Hierarchy(SOUND), path, print_format) == len(SPREAD)


@pytest.mark.parametrize("section", names.REQUIRED)
def test_damaged_files_give_the_same_lines_and_errors(section: str, folder: Path) -> None:
    chance = random.Random(section)
    found = read_layout(memoryview(SOUND)).sections[section]
    inside = range(found.offset, found.offset + found.size)
    path = written(folder, [*SPREAD, ""])
    for at in inside if len(inside) <= 24 else chance.sample(inside, 24):
        for value in (SOUND[at] ^ 1 << chance.randrange(8), chance.choice([0, 1, 0x7F, 0x80, 0xFF])):
            content = SOUND[:at] + bytes([value]) + SOUND[at + 1 :]
            with loops_broken():
                for print_format in (Format.CSV, Format.JSONL):
                    assert_same(Hierarchy(content), path, print_format)


@given(data=st.data())
def test_several_damages_at_once_give_the_same_lines_and_errors(data: st.DataObject, folder: Path) -> None:
    content = bytearray(SOUND)
    layout = read_layout(memoryview(SOUND))
    for section in data.draw(st.lists(st.sampled_from(sorted(names.REQUIRED)), min_size=1, max_size=4)):
        found = layout.sections[section]
        if found.size:
            at = found.offset + data.draw(st.integers(0, found.size - 1))
            content[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    path = written(folder, [*SPREAD, ""])
    with loops_broken():
        for print_format in (Format.CSV, Format.JSONL):
            assert_same(Hierarchy(bytes(content)), path, print_format)


def test_a_file_at_an_odd_place_of_a_buffer_is_rendered_one_by_one(tmp_path: Path) -> None:
    odd = memoryview(b"\0" + SOUND)[1:]
    assert assert_same(Hierarchy(odd), written(tmp_path, [*SPREAD, ""]), Format.CSV) == 0


def test_lists_without_line_ends_that_bytes_have_are_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "targets.txt"
    for content in (
        "\r".join([*LEAD, *SPREAD]).encode(),
        "\n".join([*LEAD, *SPREAD]).encode("utf-16"),
        "\n".join([*LEAD, *SPREAD]).encode("utf-8-sig"),
        "\n".join([*LEAD, "x" * (5 << 20), *SPREAD]).encode(),
    ):
        path.write_bytes(content)
        assert_same(Hierarchy(SOUND), path, Format.CSV)
