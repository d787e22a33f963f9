"""The fate of each paragraph, and the reason for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Self


class Fate(IntEnum):
    """What happened to one paragraph of a dump."""

    KEPT = 0
    """Read as it is."""
    REPAIRED = 1
    """Read after a correction, or with a field omitted."""
    SKIPPED = 2
    """Understood, but of no use to a hierarchy, or without a usable range."""
    UNKNOWN = 3
    """Not understood."""


class Reason(IntEnum):
    """Why there is a finding; the text is for people, the name for programs."""

    text: str

    def __new__(cls, code: int, text: str = "") -> Self:
        """Attach the text to the number."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.text = text
        return member

    # repaired
    REVERSED = 1, "the range ran backwards; its ends were swapped"
    HOST_BITS = 2, "bits after the prefix length were cleared"
    LEADING_ZERO = 3, "octets with leading zeros were read as decimal"
    SINGLE_ADDRESS = 4, "a single address was read as a range of one"
    BAD_COUNTRY = 5, "the country is not two letters and was left out"
    BAD_DATE = 6, "the date cannot be read and was left out"
    JUNK_LINE = 7, "a line without an attribute was left out"
    VALUE_CUT = 8, "a value longer than 1000 bytes was cut"
    # skipped
    NO_RANGE = 9, "there is no address range"
    BAD_RANGE = 10, "the address range cannot be read"
    OUT_OF_RANGE = 11, "an address or prefix length is too large"
    NO_HANDLE = 12, "an organisation without a handle"
    OTHER_CLASS = 13, "a class that says nothing about subnets or organisations"
    ASN = 14, "an AS number line"
    SUMMARY = 15, "a summary line"
    HEADER = 16, "a line that names a version or columns"
    # unknown
    UNKNOWN_CLASS = 17, "the class is not known"
    NO_ATTRIBUTE = 18, "the paragraph does not start with an attribute"
    BAD_LINE = 19, "the line has too few fields, or an unknown type or registry"
    # of the hierarchy rather than of one paragraph
    DUPLICATE = 20, "another registration has the same range; the more detailed and newer one was kept"
    OVERLAP = 21, "the range partly overlaps a wider one and was cut at its end"
    TOO_MANY_OVERLAPS = 22, "the range partly overlaps so many wider ones that it was left out"


FATE_OF: dict[Reason, Fate] = {
    reason: (
        Fate.REPAIRED
        if reason <= Reason.VALUE_CUT
        else Fate.SKIPPED
        if reason <= Reason.HEADER
        else Fate.UNKNOWN
        if reason <= Reason.BAD_LINE
        else Fate.KEPT
    )
    for reason in Reason
}
"""The fate that each reason implies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A non-fatal problem found in a dump."""

    dump: str
    line: int
    """Line on which the paragraph starts, counted from 1; 0 for the whole dump."""
    fate: Fate
    reason: Reason
    detail: str = ""
    """The offending text, or dump and line of the other registration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Number of paragraphs by fate."""

    kept: int = 0
    repaired: int = 0
    skipped: int = 0
    unknown: int = 0

    @property
    def paragraphs(self) -> int:
        """Number of all paragraphs."""
        return self.kept + self.repaired + self.skipped + self.unknown

    def __add__(self, other: Tally) -> Tally:
        """Add two tallies fate by fate."""
        return Tally(
            kept=self.kept + other.kept,
            repaired=self.repaired + other.repaired,
            skipped=self.skipped + other.skipped,
            unknown=self.unknown + other.unknown,
        )
