"""Hierarchies made by the package itself from dump text in memory, for comparison with the slow twin."""

from __future__ import annotations

from collections.abc import Iterable

from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.hierarchy.assemble import Assembled, assemble
from ipmicra.hierarchy.encode import Encoded
from ipmicra.model.registry import Registry
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.parser import Parser
from tests.reference.slow_parser import SlowRegistration

META = {"dumps": [{"name": "a", "dialect": "rpsl", "date": "2020-01-01", "size_bytes": 18334}], "subnets": 7}


def columns_of(*dumps: tuple[bytes, Dialect]) -> Columns:
    """Read dumps and join them, one behind the other."""
    gatherer = kernels.Gatherer()
    for text, dialect in dumps:
        parser = Parser(dialect, Registry.NONE)
        parser.add(parser.parse(text, len(text), kernels.Sheet()))
        gatherer.join(parser.gatherer)
    return Columns.of(gatherer)


def assembled(text: bytes, dialect: Dialect = Dialect.RPSL) -> Assembled:
    """Nest what one dump says."""
    return assemble(columns_of((text, dialect)))


def file_bytes(text: bytes, dialect: Dialect = Dialect.RPSL) -> bytes:
    """Return the bytes of the hierarchy file that one dump makes."""
    return bytes(Encoded(assembled(text, dialect).sections, META))


def built(text: bytes | str, dialect: Dialect = Dialect.RPSL) -> Hierarchy:
    """Build a hierarchy from one dump and open it."""
    return Hierarchy(file_bytes(text.encode() if isinstance(text, str) else text, dialect))


SOURCES = {
    Registry.RIPE: "RIPE",
    Registry.APNIC: "APNIC",
    Registry.AFRINIC: "AFRINIC",
    Registry.LACNIC: "LACNIC",
    Registry.ARIN: "ARIN",
}
KEYS = {"ORG": "org", "OWNERID": "ownerid", "ORGID": "orgid"}


def spelled_address(address: int, family: int) -> str:
    """Spell an address in the longest form, so that nothing rests on how zeros are left out."""
    if family == 4:
        return ".".join(str(octet) for octet in address.to_bytes(4))
    return ":".join(f"{address >> shift & 0xFFFF:x}" for shift in range(112, -1, -16))


def paragraph(registration: SlowRegistration) -> str:
    """Write a registration as a paragraph of RPSL."""
    family = registration.family
    ends = [spelled_address(end, family) for end in (registration.first, registration.last)]
    lines = [f"{'inetnum' if family == 4 else 'inet6num'}: {ends[0]} - {ends[1]}"]
    values = {
        "netname": registration.netname,
        "descr": registration.descr,
        KEYS.get(registration.holder, "org"): registration.handle,
        "mnt-by": registration.maintainer,
        "status": registration.status,
        "country": registration.country,
        "geoloc": registration.geoloc,
        "geofeed": registration.geofeed,
        "owner": registration.owner,
        "address": registration.address,
        "source": SOURCES.get(registration.registry, ""),
    }
    lines += [f"{key}: {value}" for key, value in values.items() if value]
    return "\n".join(lines) + "\n"


def dump_of(registrations: Iterable[SlowRegistration]) -> bytes:
    """Write registrations as one dump."""
    return "\n".join(paragraph(registration) for registration in registrations).encode()
