"""Hierarchy files: damaged ones, and ones that somebody made to do harm."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import CorruptHierarchyError, IpmicraError
from ipmicra.hierarchy.format import ENTRY, HEADER, MAGIC, MOST_SECTIONS
from ipmicra.hierarchy.rendering import Renderer, Targets
from tests.fuzz.target import target
from tests.reference.fast_building import file_bytes

TEXT = b"""inetnum: 10.0.0.0 - 10.0.255.255
netname: WIDE
org: ORG-A
country: GR
status: ALLOCATED PA
geoloc: 1 2
last-modified: 2020-01-01

inetnum: 10.0.1.0 - 10.1.0.255
netname: OVERLAPPING

inet6num: 2001:db8::/32
netname: SIX
org: ORG-B

inet6num: 2001:db8:0:8000:: - 2001:db8:1:7fff:ffff:ffff:ffff:ffff
netname: ACROSS

organisation: ORG-A
org-name: Alpha
address: 1 Road
"""
SOUND = file_bytes(TEXT)
PATCH = struct.Struct("<HB")
ADDRESSES = (IPv4Address("10.0.1.7"), IPv4Address(0), IPv6Address("2001:db8:1::"), IPv6Address("ffff::"))
LINES = b"".join(f"{address}\n".encode() for address in ADDRESSES)


def patched(data: bytes) -> bytes:
    """Change bytes of a sound file (place and value of each), and make its checksum right again."""
    content = bytearray(SOUND)
    for place, value in PATCH.iter_unpack(data[: len(data) // PATCH.size * PATCH.size]):
        content[place % len(content)] = value
    return sealed(content)


def sealed(content: bytearray) -> bytes:
    """Make the checksum of header and table right: whoever means harm does so too."""
    magic, version, count, spare, size, digest, _ = HEADER.unpack_from(content)
    end = HEADER.size + min(count, MOST_SECTIONS) * ENTRY.size
    unsigned = HEADER.pack(magic, version, count, spare, size, digest, 0)
    checksum = zlib.crc32(unsigned + content[HEADER.size : end])
    HEADER.pack_into(content, 0, magic, version, count, spare, size, digest, checksum)
    return bytes(content)


@target("hierarchies", CorruptHierarchyError, longest=60)
def open_and_ask(data: bytes) -> None:
    """A file is opened and answers, or is refused; a whole file is taken as it is."""
    content = data if data.startswith(MAGIC) else patched(data)
    with Hierarchy(content) as hierarchy:
        asked = questions(hierarchy)
        for number in (0, len(data) % len(asked)):  # all of them would take seven times as long
            with suppress(IpmicraError):
                asked[number]()


def questions(hierarchy: Hierarchy) -> list[Callable[[], object]]:
    """Return some questions of every kind."""
    last = len(hierarchy) - 1
    return [
        lambda: [hierarchy.lineage(address) for address in ADDRESSES],
        lambda: hierarchy.lookup_many(ADDRESSES),
        lambda: [hierarchy.subnet(row) for row in (0, last, last + 1)],
        lambda: [hierarchy.children(row) for row in (0, last)],
        lambda: [hierarchy.registered_range(row) for row in (1, last)],
        lambda: [hierarchy.organisations[number] for number in (0, 1)],
        lambda: (hierarchy.search("alpha"), hierarchy.subnets_of(0)),
        lambda: (hierarchy.meta, hierarchy.edition.label, repr(hierarchy)),
        lambda: rendered(hierarchy),
    ]


def rendered(hierarchy: Hierarchy) -> None:
    """Let compiled code write lines, as `ipmicra lookup` does with long lists."""
    renderer = Renderer(hierarchy._sections, hierarchy._finder)
    targets, _ = Targets.read(LINES, 0)
    rows = renderer.rows_of(targets)
    for is_json in (False, True):
        renderer.render(targets, rows, 0, bytearray(4096), is_json=is_json)
