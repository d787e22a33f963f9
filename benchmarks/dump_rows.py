"""One registration of a generated dump, and how its range is written, with a fault if it is to have one."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from benchmarks.invented_text import Holder


class Fault(IntEnum):
    """What is wrong with the text of a range."""

    NONE = 0
    REVERSED = 1
    HOST_BITS = 2
    OUT_OF_RANGE = 3
    LEADING_ZERO = 4


class Row(NamedTuple):
    """One registration, as numbers into the pools of a vocabulary."""

    family: int
    first: int
    last: int
    bits: int
    rank: int
    """0 is a registry's block, 1 an allocation, 2 a part of one, 3 an assignment."""
    fault: int
    holder: Holder
    organisation: int
    """Number of the organisation, -1 for none."""
    number: int
    """Any number below a million."""
    line: int
    """The first of the lines of text."""
    lines: int
    created: int
    modified: int
    clock: int
    is_foreign: bool
    is_continued: bool
    has_own_contact: bool
    has_own_remark: bool
    geo: int
    """1 for a geoloc, 2 for a geofeed, 3 for a geofeed in a remark, else 0."""


def ipv4(number: int) -> str:
    """Write an IPv4 address."""
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def padded_ipv4(number: int) -> str:
    """Write an IPv4 address with three digits in each octet."""
    return f"{number >> 24:03}.{number >> 16 & 255:03}.{number >> 8 & 255:03}.{number & 255:03}"


def large_ipv4(row: Row) -> str:
    """Write an address whose last octet is over 255."""
    return f"{ipv4(row.first & 0xFFFFFF00)[:-1]}{256 + row.number % 700}"


def ipv6(high: int) -> str:
    """Write the IPv6 address with these upper 64 bits."""
    groups = [high >> 48, high >> 32 & 0xFFFF, high >> 16 & 0xFFFF, high & 0xFFFF]
    while groups and groups[-1] == 0:
        groups.pop()
    return ":".join(f"{group:x}" for group in groups) + "::"


def ipv4_pair(row: Row) -> str:
    """Write `first - last`, with its fault if it has one."""
    if row.fault == Fault.NONE:
        return f"{ipv4(row.first)} - {ipv4(row.last)}"
    if row.fault == Fault.REVERSED:
        return f"{ipv4(row.last)} - {ipv4(row.first)}"
    if row.fault == Fault.HOST_BITS:
        return f"{ipv4(row.last)}/{32 - row.bits}"
    if row.fault == Fault.OUT_OF_RANGE:
        return f"{ipv4(row.first)} - {large_ipv4(row)}"
    return f"{padded_ipv4(row.first)} - {ipv4(row.last)}"


def ipv6_prefix(row: Row) -> str:
    """Write an IPv6 prefix, with its fault if it has one."""
    if row.fault == Fault.HOST_BITS:
        return f"{ipv6(row.first)}7/{64 - row.bits}"
    if row.fault == Fault.OUT_OF_RANGE:
        return f"{ipv6(row.first)}/{129 + row.number % 99}"
    return f"{ipv6(row.first)}/{64 - row.bits}"


def rpsl_range(row: Row) -> str:
    """Write a range as RPSL does."""
    return ipv4_pair(row) if row.family == 4 else ipv6_prefix(row)


def lacnic_range(row: Row) -> str:
    """Write a range as LACNIC does: a prefix without the zeros at its end, where it is one."""
    if row.family == 6:
        return ipv6_prefix(row)
    size = 1 << row.bits
    if row.fault or row.first % size or row.last - row.first + 1 != size:
        return ipv4_pair(row)
    start = ipv4(row.first)
    while start.endswith(".0"):
        start = start[:-2]
    return f"{start}/{32 - row.bits}"


def arin_range(row: Row) -> str:
    """Write a range as ARIN does: first and last in both families."""
    if row.family == 4:
        return ipv4_pair(row)
    if row.fault:
        return ipv6_prefix(row)
    return f"{ipv6(row.first)} - {ipv6(row.last).removesuffix('::')}:ffff:ffff:ffff:ffff".upper()
