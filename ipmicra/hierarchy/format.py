"""The `.ipm` file: its names, its header and its section table. See docs/file-format.md.

Theory of operation
-------------------
A file is a header, a table of sections, then the sections: columns of little-endian numbers and pools of
text, each aligned to 64 bytes, so that any of them can be viewed in place as an array over a memory map.
This module knows names, types and positions; what the numbers mean is known to those who read them.

`read_layout` is the only way in. It reads nothing but header and table, about 1.5 KB whatever the size of
the file, and guarantees for all later code: every section of `REQUIRED` is present, has one of its number
types, lies inside the file and outside the table, and has a size that fits the others (as many numbers per
column as there are subnets, a power of two for the index). Whoever views a section therefore needs no
bounds checks of its own, except on the values it reads.

Two kinds of checksum serve two purposes. The CRC-32 covers header and table and is checked at every open,
because wrong offsets would make everything wrong. The digests cover the contents and are compared by
`verify` only: hashing gigabytes at every open would defeat the memory map.

A file of another version is refused, not converted: building from dumps takes seconds.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from ipmicra.errors import CorruptHierarchyError

MAGIC = b"IPMICRA\0"
VERSION = 2
READABLE = (1, 2)
"""Versions that are read; the first has no postal addresses."""
HEADER = struct.Struct("<8sHHIQ32sI")
"""Magic, version, number of sections, spare, size of the file, content hash, checksum of header and table."""
ENTRY = struct.Struct("<24s4sIQQ16s")
"""Name, number type, spare, offset, size in bytes, hash."""
ALIGNMENT = 64
MOST_SECTIONS = 64
SECTION_HASH_BYTES = 16
CONTENT_HASH_BYTES = 32

NUMBER_TYPES = {b"u1": "B", b"u2": "H", b"u4": "I", b"u8": "Q", b"i8": "q"}
"""Number types of sections → format characters of `memoryview.cast`."""
ITEM_BYTES = {b"u1": 1, b"u2": 2, b"u4": 4, b"u8": 8, b"i8": 8}

META = "meta"
"""JSON: edition, dumps, counts."""
BOUNDS4, BOUNDS6 = "bounds4", "bounds6"
"""First and last of each subnet: two u4, or four u8 (high and low words)."""
PARENT, ORGANISATION, NETNAME = "parent", "organisation", "netname"
COUNTRY, STATUS, REGISTRY, DATE = "country", "status", "registry", "date"
COUNTRIES, STATUSES = "countries", "statuses"
"""The values behind the codes in country and status."""
SEGMENTS, SEGMENT_INDEX = "segments", "segment index"
NAMES = "names"
ORGANISATION_AT, ORGANISATIONS = "organisation at", "organisations"
GEO_ROWS, GEOLOC, GEOFEED, POSTAL = "geo rows", "geoloc", "geofeed", "postal address"
"""Rows that have one of the other three, and where each of these is among the names."""
CUT_ROWS, CUT_RANGES = "cut rows", "cut ranges"

REQUIRED: dict[str, tuple[bytes, ...]] = {
    META: (b"u1",),
    BOUNDS4: (b"u4",),
    BOUNDS6: (b"u8",),
    PARENT: (b"u4",),
    ORGANISATION: (b"u4",),
    NETNAME: (b"u4",),
    COUNTRY: (b"u1", b"u2"),
    STATUS: (b"u1", b"u2", b"u4"),
    REGISTRY: (b"u1",),
    DATE: (b"u2",),
    COUNTRIES: (b"u2",),
    STATUSES: (b"u4",),
    SEGMENTS: (b"u8",),
    SEGMENT_INDEX: (b"u8",),
    NAMES: (b"u1",),
    ORGANISATION_AT: (b"u4",),
    ORGANISATIONS: (b"u1",),
    GEO_ROWS: (b"u4",),
    GEOLOC: (b"u4",),
    GEOFEED: (b"u4",),
    POSTAL: (b"u4",),
    CUT_ROWS: (b"u4",),
    CUT_RANGES: (b"u8",),
}
"""Every section with its allowed number types."""
LATER = {POSTAL: 2}
"""Sections that files before a version lack."""

ROW_COLUMNS = (PARENT, ORGANISATION, NETNAME, COUNTRY, STATUS, REGISTRY, DATE)
"""Sections with one number per subnet, IPv4 first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Position and type of a section."""

    name: str
    number_type: bytes
    offset: int
    size: int
    """Bytes."""
    digest: bytes

    @property
    def count(self) -> int:
        """Numbers in the section."""
        return self.size // ITEM_BYTES[self.number_type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A validated header and section table."""

    content_hash: bytes
    size: int
    table_end: int
    """Offset of the first byte after the section table."""
    sections: dict[str, Section]


def encode_header(sections: list[Section], size: int, content_hash: bytes) -> bytes:
    """Return the bytes of header and table."""
    table = b"".join(
        ENTRY.pack(
            section.name.encode(), section.number_type, 0, section.offset, section.size, section.digest
        )
        for section in sections
    )
    unsigned = HEADER.pack(MAGIC, VERSION, len(sections), 0, size, content_hash, 0)
    checksum = zlib.crc32(unsigned + table)
    return HEADER.pack(MAGIC, VERSION, len(sections), 0, size, content_hash, checksum) + table


def read_layout(buffer: memoryview) -> Layout:
    """Read and check header and table of a file; nothing else is read."""
    if len(buffer) < HEADER.size:
        raise CorruptHierarchyError(len(buffer), "too short for a hierarchy")
    magic, version, count, _spare, size, content_hash, checksum = HEADER.unpack_from(buffer)
    if magic != MAGIC:
        raise CorruptHierarchyError(0, "not a hierarchy: the first bytes are not IPMICRA")
    if version not in READABLE:
        raise CorruptHierarchyError(8, f"format version {version}, this ipmicra reads {VERSION}: rebuild it")
    if size != len(buffer):
        raise CorruptHierarchyError(len(buffer), f"{len(buffer)} bytes where the header says {size}")
    table_end = HEADER.size + count * ENTRY.size
    if count > MOST_SECTIONS or table_end > size:
        raise CorruptHierarchyError(10, f"{count} sections do not fit")
    unsigned = HEADER.pack(magic, version, count, _spare, size, content_hash, 0)
    if zlib.crc32(unsigned + bytes(buffer[HEADER.size : table_end])) != checksum:
        raise CorruptHierarchyError(HEADER.size, "header or section table is damaged")
    sections = [_read_section(buffer, i, table_end, size) for i in range(count)]
    layout = Layout(
        content_hash=content_hash,
        size=size,
        table_end=table_end,
        sections={section.name: section for section in sections},
    )
    _check_sections(layout, version)
    return layout


def _read_section(buffer: memoryview, i: int, table_end: int, size: int) -> Section:
    """Read one entry of the table and check that it lies inside the file."""
    at = HEADER.size + i * ENTRY.size
    name, number_type, _spare, offset, length, digest = ENTRY.unpack_from(buffer, at)
    number_type = number_type.rstrip(b"\0")
    if number_type not in NUMBER_TYPES or length % ITEM_BYTES[number_type] or offset % ALIGNMENT:
        raise CorruptHierarchyError(at, f"section {i} has no sound type, size or offset")
    if offset < table_end or offset + length > size:
        raise CorruptHierarchyError(at, f"section {i} lies outside the file")
    return Section(
        name=name.rstrip(b"\0").decode("ascii", "replace"),
        number_type=number_type,
        offset=offset,
        size=length,
        digest=digest,
    )


def _check_sections(layout: Layout, version: int) -> None:
    """Check that all sections are present and that their sizes are consistent."""
    for name, types in REQUIRED.items():
        section = layout.sections.get(name)
        if section is None and version < LATER.get(name, 0):
            continue
        if section is None:
            raise CorruptHierarchyError(HEADER.size, f"section {name!r} is missing")
        if section.number_type not in types:
            raise CorruptHierarchyError(section.offset, f"section {name!r} has the wrong number type")
    counts = {name: section.count for name, section in layout.sections.items()}
    rows = counts[BOUNDS4] // 2 + counts[BOUNDS6] // 4
    sound = (
        counts[BOUNDS4] % 2 == 0 < counts[BOUNDS4],
        counts[BOUNDS6] % 4 == 0 < counts[BOUNDS6],
        all(counts[name] == rows for name in ROW_COLUMNS),
        counts[SEGMENTS] > 0,
        counts[SEGMENT_INDEX].bit_count() == 1,
        counts[GEO_ROWS] == counts[GEOLOC] == counts[GEOFEED] == counts.get(POSTAL, counts[GEO_ROWS]),
        counts[CUT_ROWS] * 4 == counts[CUT_RANGES],
    )
    if not all(sound):
        raise CorruptHierarchyError(HEADER.size, "the sizes of the sections do not fit each other")
