"""Read single values slowly and obviously right: text, countries, dates, ranges.

The rules are those of `docs/dialects.md`. A value is bytes until it is stored as text.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import re

from ipmicra.model.finding import Reason
from ipmicra.model.registry import REGISTRY_MAINTAINERS, SOURCES, Registry

BLANKS = b" \t"
LONGEST_VALUE_BYTES = 1000


class SkipError(Exception):
    """Raised within this module where a paragraph turns out to be of no use."""

    def __init__(self, reason: Reason) -> None:
        """Remember the reason."""
        super().__init__(reason.text)
        self.reason = reason


def structured(value: bytes) -> bytes:
    """Drop the end-of-line comment of a value."""
    return value.split(b"#", 1)[0].strip(BLANKS)


def words(value: bytes) -> list[bytes]:
    """Split a value at spaces and tabs."""
    return [word for word in re.split(rb"[ \t]+", value) if word]


def text(value: bytes, reasons: set[Reason]) -> str:
    """Read a value as UTF-8, else as latin-1, and cut it where its UTF-8 form is too long."""
    try:
        decoded = value.decode("utf-8")
    except UnicodeDecodeError:
        decoded = value.decode("latin-1")
    stored = decoded.encode("utf-8")
    if len(stored) > LONGEST_VALUE_BYTES:
        reasons.add(Reason.VALUE_CUT)
    return stored[:LONGEST_VALUE_BYTES].decode("utf-8", errors="ignore")


def country(value: bytes, reasons: set[Reason]) -> str:
    """Read a country code; nothing is no country, other text a finding."""
    if re.fullmatch(rb"[A-Za-z]{2}", value):
        return value.decode().upper()
    if value:
        reasons.add(Reason.BAD_COUNTRY)
    return ""


def days(year: int, month: int, day: int) -> int:
    """Count the days since 1969-12-31; 0 for a date that does not exist or lies outside 1970 to 2148."""
    if not 1970 <= year <= 2148:
        return 0
    try:
        return (dt.date(year, month, day) - dt.date(1969, 12, 31)).days
    except ValueError:
        return 0


def compact_date(word: bytes) -> int:
    """Read `YYYYMMDD`; 0 for anything else."""
    match = re.fullmatch(rb"([0-9]{4})([0-9]{2})([0-9]{2})", word)
    return days(*map(int, match.groups())) if match else 0


def dashed_date(value: bytes) -> int:
    """Read a value that starts with `YYYY-MM-DD`; 0 for anything else."""
    match = re.match(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})", value)
    return days(*map(int, match.groups())) if match else 0


def date(value: bytes, reasons: set[Reason]) -> int:
    """Read the date of a paragraph; nothing is no date, other text a finding."""
    if not value:
        return 0
    found = dashed_date(value) or compact_date(words(value)[-1])
    if not found:
        reasons.add(Reason.BAD_DATE)
    return found


def has_registry_maintainer(name: bytes) -> bool:
    """Return whether a maintainer is a registry's own."""
    return name.upper().startswith(tuple(word.upper().encode() for word in REGISTRY_MAINTAINERS))


def known_registry(source: bytes) -> Registry | None:
    """Read the value of `source`; None if it names no registry."""
    word = re.split(rb"[ \t#-]", source, maxsplit=1)[0]
    return SOURCES.get(word.lower().decode("latin-1"))


def remark_geofeed(value: bytes) -> bytes:
    """Take the address of a geofeed out of a remark; empty if it is about something else."""
    match = re.match(rb"geofeed(?=[ \t:]|$)", value, re.IGNORECASE)
    if not match:
        return b""
    behind = words(value[match.end() :].strip(BLANKS).removeprefix(b":"))
    return behind[0] if behind else b""


def ipv4_octets(value: bytes, reasons: set[Reason]) -> list[int]:
    """Read 1 to 4 dotted octets; a number over 255 is left to the caller."""
    if not re.fullmatch(rb"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", value):
        raise SkipError(Reason.BAD_RANGE)
    octets = value.split(b".")
    if any(len(octet) > 1 and octet.startswith(b"0") for octet in octets):
        reasons.add(Reason.LEADING_ZERO)
    return [int(octet) for octet in octets]


def ipv4_number(octets: list[int]) -> int:
    """Join octets to an address, those left out at the end being 0."""
    if max(octets) > 255:
        raise SkipError(Reason.OUT_OF_RANGE)
    return int(ipaddress.IPv4Address(bytes([*octets, 0, 0, 0][:4])))


def full_ipv4(value: bytes, reasons: set[Reason]) -> list[int]:
    """Read exactly four octets."""
    octets = ipv4_octets(value, reasons)
    if len(octets) != 4:
        raise SkipError(Reason.BAD_RANGE)
    return octets


def ipv6_number(value: bytes) -> int:
    """Read an IPv6 address without zone or embedded dotted quad."""
    if not re.fullmatch(rb"[0-9A-Fa-f:]+", value) or b":" not in value:
        raise SkipError(Reason.BAD_RANGE)
    try:
        return int(ipaddress.IPv6Address(value.decode()))
    except ValueError:
        raise SkipError(Reason.BAD_RANGE) from None


def prefix_length(value: bytes) -> int:
    """Read a prefix length of 1 to 3 digits."""
    if not re.fullmatch(rb"[0-9]{1,3}", value):
        raise SkipError(Reason.BAD_RANGE)
    return int(value)


def prefix_range(start: int, length: int, bits: int, reasons: set[Reason]) -> tuple[int, int]:
    """Return the first and last address of a prefix, its host bits cleared."""
    if length > bits:
        raise SkipError(Reason.OUT_OF_RANGE)
    size = 2 ** (bits - length)
    if start % size:
        reasons.add(Reason.HOST_BITS)
    first = start - start % size
    return first, first + size - 1


def ordered_range(first: int, last: int, reasons: set[Reason]) -> tuple[int, int]:
    """Put the ends of a range in order."""
    if last < first:
        reasons.add(Reason.REVERSED)
    return min(first, last), max(first, last)


def ipv4_range(value: bytes, reasons: set[Reason]) -> tuple[int, int]:
    """Read an IPv4 value in any of the three forms."""
    if b"-" in value:
        left, right = split_ends(value)
        octets = full_ipv4(left, reasons), full_ipv4(right, reasons)
        return ordered_range(ipv4_number(octets[0]), ipv4_number(octets[1]), reasons)
    if b"/" in value:
        start, length = value.split(b"/", 1)
        leading, bits = ipv4_octets(start, reasons), prefix_length(length)
        return prefix_range(ipv4_number(leading), bits, 32, reasons)
    address = ipv4_number(full_ipv4(value, reasons))
    reasons.add(Reason.SINGLE_ADDRESS)
    return address, address


def ipv6_range(value: bytes, reasons: set[Reason]) -> tuple[int, int]:
    """Read an IPv6 value in any of the three forms."""
    if b"-" in value:
        left, right = split_ends(value)
        return ordered_range(ipv6_number(left), ipv6_number(right), reasons)
    if b"/" in value:
        start, length = value.split(b"/", 1)
        return prefix_range(ipv6_number(start), prefix_length(length), 128, reasons)
    address = ipv6_number(value)
    reasons.add(Reason.SINGLE_ADDRESS)
    return address, address


def split_ends(value: bytes) -> tuple[bytes, bytes]:
    """Split `first - last`; the blanks around the dash are free."""
    left, right = value.split(b"-", 1)
    return left.strip(BLANKS), right.strip(BLANKS)


def address_range(value: bytes, reasons: set[Reason]) -> tuple[int, int, int]:
    """Read a range: its first and last address and its family; raise `SkipError` if there is none.

    10.0.0.9/8 gives 0x0A000000, 0x0AFFFFFF, 4 and the reason HOST_BITS.
    """
    if not value:
        raise SkipError(Reason.NO_RANGE)
    if b":" in value:
        return *ipv6_range(value, reasons), 6
    return *ipv4_range(value, reasons), 4
