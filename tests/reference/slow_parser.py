"""Read dumps slowly and obviously right: the twin of `ipmicra.parse`.

The rules are those of `docs/dialects.md`, in the same order and the same words. Everything works on bytes
until a value is stored; nothing here is meant to be fast.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ipmicra.model.finding import FATE_OF, Fate, Reason, Tally
from ipmicra.model.registry import STATISTICS_NAMES, Registry
from tests.reference.slow_values import (
    BLANKS,
    SkipError,
    address_range,
    compact_date,
    country,
    date,
    full_ipv4,
    has_registry_maintainer,
    ipv4_number,
    ipv6_number,
    known_registry,
    prefix_length,
    prefix_range,
    remark_geofeed,
    structured,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECOGNISED_BYTES = 64 * 1024

REGISTRATION_CLASSES = frozenset({b"inetnum", b"inet6num", b"nethandle", b"v6nethandle"})
ORGANISATION_CLASSES = frozenset({b"organisation", b"orgid"})
OTHER_CLASSES = frozenset(
    b"as-block as-set ashandle aut-num domain filter-set inet-rtr irt key-cert limerick mntner nic-hdl "
    b"nic-hdl-br peering-set person pochandle poem poetic-form role route route6 route-set rtr-set".split()
)
ARIN_CLASSES = frozenset({b"nethandle", b"v6nethandle", b"ashandle", b"pochandle", b"orgid"})
LACNIC_KEYS = frozenset({b"owner", b"ownerid", b"inetnum-up"})
HOLDERS = {b"org": "ORG", b"ownerid": "OWNERID", b"orgid": "ORGID"}
DATE_RANKS: tuple[tuple[bytes, ...], ...] = (
    (b"last-modified",),
    (b"changed", b"updated"),
    (b"created", b"regdate"),
)
ADDRESS_KEYS = (b"address", b"street", b"city", b"state/prov", b"postalcode")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRegistration:
    """A registration with every value as text; absent values are empty."""

    first: int
    last: int
    family: int
    """4 or 6."""
    netname: str = ""
    descr: str = ""
    handle: str = ""
    maintainer: str = ""
    status: str = ""
    geoloc: str = ""
    geofeed: str = ""
    owner: str = ""
    """LACNIC's name of the holder."""
    address: str = ""
    """Postal address lines in one."""
    country: str = ""
    """Two upper-case letters, or nothing."""
    date: int = 0
    """Days since 1969-12-31; 0 without a date."""
    registry: Registry
    holder: str = ""
    """Kind of the handle: ORG, OWNERID, ORGID, OPAQUE, or nothing."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowOrganisation:
    """An organisation with every value as text; absent values are empty."""

    handle: str
    name: str
    address: str
    country: str
    date: int
    """Days since 1969-12-31; 0 without a date."""
    registry: Registry
    line: int


@dataclass(slots=True, kw_only=True)
class SlowDump:
    """All that was read from one dump."""

    registrations: list[SlowRegistration] = field(default_factory=list)
    organisations: list[SlowOrganisation] = field(default_factory=list)
    findings: list[tuple[int, Fate, Reason]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    def settle(self, line: int, reasons: Iterable[Reason]) -> None:
        """Count one paragraph and note why it was not simply kept."""
        ordered = sorted(set(reasons))
        self.findings.extend((line, FATE_OF[reason], reason) for reason in ordered)
        fate = FATE_OF[ordered[0]] if ordered else Fate.KEPT
        self.tally += Tally(**{fate.name.lower(): 1})


# --- paragraph dialects -------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class SlowParagraph:
    """The attributes of one paragraph, in order, continuation lines joined."""

    line: int
    attributes: list[tuple[bytes, bytes]] = field(default_factory=list)
    has_junk: bool = False

    @property
    def paragraph_class(self) -> bytes:
        """Key of the first attribute."""
        return self.attributes[0][0]

    def values(self, *keys: bytes) -> list[bytes]:
        """Values of the attributes with one of these keys, in the order of the lines."""
        return [value for key, value in self.attributes if key in keys]

    def free(self, *keys: bytes) -> bytes:
        """Return the first non-empty value, kept whole."""
        return first_of(self.values(*keys))

    def structured(self, *keys: bytes) -> bytes:
        """Return the first value that is not empty once its comment is cut."""
        return first_of(structured(value) for value in self.values(*keys))


def first_of(values: Iterable[bytes]) -> bytes:
    """Return the first non-empty value, or an empty one."""
    return next((value for value in values if value), b"")


def numbered_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Return each line with its number, counted from 1; one CR at its end is dropped."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        yield number, line.removesuffix(b"\r")


def runs_of_lines(data: bytes) -> Iterator[list[tuple[int, bytes]]]:
    """Split a dump at blank lines, drop comments, and leave out runs that then are empty."""
    run: list[tuple[int, bytes]] = []
    for number, line in numbered_lines(data):
        if line.strip(BLANKS):
            if line[:1] not in (b"#", b"%"):
                run.append((number, line))
        elif run:
            yield run
            run = []
    if run:
        yield run


def joined(value: bytes, more: bytes) -> bytes:
    """Join a continuation line to a value with one space, or none where a side is empty."""
    return value + b" " + more if value and more else value + more


def read_paragraph(run: list[tuple[int, bytes]]) -> SlowParagraph | None:
    """Read the attributes of a run of lines; None if it does not start with one."""
    paragraph = SlowParagraph(line=run[0][0])
    is_in_junk = True
    for _, line in run:
        attribute = re.match(rb"([^ \t+:][^ \t:]{0,30}):(.*)", line, re.DOTALL)
        if attribute:
            is_in_junk = False
            paragraph.attributes.append((attribute[1].lower(), attribute[2].strip(BLANKS)))
        elif line[:1] in (b" ", b"\t", b"+") and not is_in_junk:
            key, value = paragraph.attributes[-1]
            paragraph.attributes[-1] = key, joined(value, line[1:].strip(BLANKS))
        elif not paragraph.attributes:
            return None
        else:
            is_in_junk = True
            paragraph.has_junk = True
    return paragraph


def holder_of(paragraph: SlowParagraph) -> tuple[bytes, str]:
    """Find the handle of a registration's holder and its kind."""
    for key, value in paragraph.attributes:
        if key in HOLDERS and structured(value):
            return structured(value), HOLDERS[key]
    return b"", ""


def maintainer_of(paragraph: SlowParagraph) -> bytes:
    """Find the first maintainer that is no registry's own."""
    lines = [structured(value) for value in paragraph.values(b"mnt-by")]
    names = [name for line in lines for name in re.split(rb"[ \t,]+", line)]
    return first_of(name for name in names if not has_registry_maintainer(name))


def date_of(paragraph: SlowParagraph, reasons: set[Reason]) -> int:
    """Read the date of the best rank at hand."""
    return date(first_of(paragraph.structured(*keys) for keys in DATE_RANKS), reasons)


def geofeed_of(paragraph: SlowParagraph) -> bytes:
    """Find the geofeed: the attribute, else a remark."""
    remarks = [structured(value) for value in paragraph.values(b"remarks", b"comment")]
    return paragraph.structured(b"geofeed") or first_of(remark_geofeed(remark) for remark in remarks)


def address_of(paragraph: SlowParagraph) -> bytes:
    """Join the lines of a postal address."""
    return b", ".join(value for value in paragraph.values(*ADDRESS_KEYS) if value)


def registry_of(paragraph: SlowParagraph, default_registry: Registry) -> Registry:
    """Read the source of a paragraph."""
    known = known_registry(paragraph.structured(b"source"))
    return default_registry if known is None else known


def range_of(paragraph: SlowParagraph, reasons: set[Reason]) -> tuple[int, int, int]:
    """Read the first range attribute, even if it is empty."""
    values = paragraph.values(b"inetnum", b"inet6num", b"netrange")
    return address_range(structured(values[0]) if values else b"", reasons)


def read_registration(paragraph: SlowParagraph, registry: Registry, reasons: set[Reason]) -> SlowRegistration:
    """Read a registration; raise `SkipError` if it has no usable range."""
    first, last, family = range_of(paragraph, reasons)
    handle, holder = holder_of(paragraph)
    owner, maintainer = paragraph.free(b"owner"), maintainer_of(paragraph)
    unkept: set[Reason] = set()
    """Repairs of values that are not kept because something better names the holder."""
    return SlowRegistration(
        first=first,
        last=last,
        family=family,
        netname=text(paragraph.structured(b"netname"), reasons),
        descr=text(paragraph.free(b"descr"), unkept if handle or owner or maintainer else reasons),
        handle=text(handle, reasons),
        maintainer=text(maintainer, unkept if handle or owner else reasons),
        owner=text(owner, unkept if handle else reasons),
        status=text(paragraph.structured(b"status", b"nettype"), reasons),
        geoloc=text(paragraph.structured(b"geoloc"), reasons),
        geofeed=text(geofeed_of(paragraph), reasons),
        address=text(address_of(paragraph), reasons),
        country=country(paragraph.structured(b"country"), reasons),
        date=date_of(paragraph, reasons),
        registry=registry_of(paragraph, registry),
        holder=holder,
        line=paragraph.line,
    )


def read_organisation(
    paragraph: SlowParagraph, names: tuple[bytes, bytes], registry: Registry, reasons: set[Reason]
) -> SlowOrganisation:
    """Read an organisation, given its handle and its name."""
    handle, name = names
    return SlowOrganisation(
        handle=text(handle, reasons),
        name=text(name, reasons),
        address=text(address_of(paragraph), reasons),
        country=country(paragraph.structured(b"country"), reasons),
        date=date_of(paragraph, reasons),
        registry=registry_of(paragraph, registry),
        line=paragraph.line,
    )


def take_registration(dump: SlowDump, paragraph: SlowParagraph, registry: Registry) -> set[Reason]:
    """Add a registration and the organisation it may hold; return the reasons of its repairs."""
    reasons: set[Reason] = set()
    dump.registrations.append(read_registration(paragraph, registry, reasons))
    names = paragraph.structured(b"ownerid"), paragraph.free(b"owner")
    if all(names):
        dump.organisations.append(read_organisation(paragraph, names, registry, reasons))
    return reasons


def take_organisation(dump: SlowDump, paragraph: SlowParagraph, registry: Registry) -> set[Reason]:
    """Add an organisation; return the reasons of its repairs."""
    reasons: set[Reason] = set()
    names = structured(paragraph.attributes[0][1]), paragraph.free(b"org-name", b"orgname")
    if not names[0]:
        raise SkipError(Reason.NO_HANDLE)
    dump.organisations.append(read_organisation(paragraph, names, registry, reasons))
    return reasons


def take_paragraph(dump: SlowDump, paragraph: SlowParagraph | None, registry: Registry) -> set[Reason]:
    """Add what a paragraph holds; return the reasons why it is not simply kept."""
    if paragraph is None:
        return {Reason.NO_ATTRIBUTE}
    if paragraph.paragraph_class in OTHER_CLASSES:
        return {Reason.OTHER_CLASS}
    if paragraph.paragraph_class not in REGISTRATION_CLASSES | ORGANISATION_CLASSES:
        return {Reason.UNKNOWN_CLASS}
    take = take_registration if paragraph.paragraph_class in REGISTRATION_CLASSES else take_organisation
    try:
        reasons = take(dump, paragraph, registry)
    except SkipError as skip:
        return {skip.reason}
    return reasons | {Reason.JUNK_LINE} if paragraph.has_junk else reasons


def read_paragraphs(data: bytes, default_registry: Registry = Registry.NONE) -> SlowDump:
    """Read a dump in a paragraph dialect; `default_registry` is the dump's (see `registry_of_dump`)."""
    dump = SlowDump()
    for run in runs_of_lines(data):
        dump.settle(run[0][0], take_paragraph(dump, read_paragraph(run), default_registry))
    return dump


def registry_of_dump(data: bytes) -> Registry:
    """Find the registry of paragraphs without a known source of their own."""
    paragraphs = [read_paragraph(run) for run in runs_of_lines(data[:RECOGNISED_BYTES])]
    read = [paragraph for paragraph in paragraphs if paragraph is not None]
    sources = [known_registry(structured(value)) for each in read for value in each.values(b"source")]
    known = [source for source in sources if source is not None]
    if known:
        return known[0]
    if any(paragraph.paragraph_class in ARIN_CLASSES for paragraph in read):
        return Registry.ARIN
    if any(paragraph.values(*LACNIC_KEYS) for paragraph in read):
        return Registry.LACNIC
    return Registry.NONE


# --- statistics ---------------------------------------------------------------------------------------------


def read_statistics(data: bytes) -> SlowDump:
    """Read delegated or delegated-extended statistics."""
    dump = SlowDump()
    for number, line in numbered_lines(data):
        if line.strip(BLANKS) and not line.strip(BLANKS).startswith(b"#"):
            fields = [part.strip(BLANKS) for part in line.split(b"|")]
            dump.settle(number, take_fields(dump, fields, number))
    return dump


def take_fields(dump: SlowDump, fields: list[bytes], line: int) -> set[Reason]:
    """Add what a line of statistics holds; return the reasons why it is not simply kept."""
    if re.fullmatch(rb"[0-9.]+", fields[0]):
        return {Reason.HEADER}
    if fields[5:6] == [b"summary"]:
        return {Reason.SUMMARY}
    if fields[2:3] == [b"asn"]:
        return {Reason.ASN}
    registry = STATISTICS_NAMES.get(fields[0].decode("latin-1"))
    if len(fields) < 7 or fields[2] not in (b"ipv4", b"ipv6") or registry is None:
        return {Reason.BAD_LINE}
    reasons: set[Reason] = set()
    try:
        dump.registrations.append(read_statistics_registration(fields, registry, line, reasons))
    except SkipError as skip:
        return {skip.reason}
    return reasons


def read_statistics_registration(
    fields: list[bytes], registry: Registry, line: int, reasons: set[Reason]
) -> SlowRegistration:
    """Read the registration of a line of type ipv4 or ipv6."""
    first, last = statistics_range(fields, reasons)
    handle = fields[7] if len(fields) > 7 else b""
    return SlowRegistration(
        first=first,
        last=last,
        family=4 if fields[2] == b"ipv4" else 6,
        handle=text(handle, reasons),
        holder="OPAQUE" if handle else "",
        status=text(fields[6], reasons),
        country=country(fields[1] if fields[1] != b"*" else b"", reasons),
        date=statistics_date(fields[5], reasons),
        registry=registry,
        line=line,
    )


def statistics_range(fields: list[bytes], reasons: set[Reason]) -> tuple[int, int]:
    """Read start and value: a count of addresses for ipv4, a prefix length for ipv6."""
    start, value = fields[3], fields[4]
    if fields[2] == b"ipv6":
        return prefix_range(ipv6_number(start), prefix_length(value), 128, reasons)
    octets = full_ipv4(start, reasons)
    if not re.fullmatch(rb"[0-9]+", value) or int(value) == 0:
        raise SkipError(Reason.BAD_RANGE)
    first = ipv4_number(octets)
    if first + int(value) > 2**32:
        raise SkipError(Reason.OUT_OF_RANGE)
    return first, first + int(value) - 1


def statistics_date(value: bytes, reasons: set[Reason]) -> int:
    """Read `YYYYMMDD`; nothing and zeros are no date, other text a finding."""
    if value in (b"", b"00000000"):
        return 0
    found = compact_date(value)
    if not found:
        reasons.add(Reason.BAD_DATE)
    return found


# --- IANA's address space -----------------------------------------------------------------------------------


def read_iana(data: bytes) -> SlowDump:
    """Read one of IANA's CSV files; its first line names the columns and is skipped."""
    dump = SlowDump()
    header: list[str] = []
    for line, row in numbered_rows(data):
        dump.settle(line, take_row(dump, header, row, line) if header else {Reason.HEADER})
        header = header or row
    return dump


def numbered_rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with the line it starts on; bytes pass as latin-1."""
    reader = csv.reader(io.StringIO(data.removeprefix(BOM).decode("latin-1"), newline=""))
    line = 1
    for row in reader:
        cells = [re.sub("[ \t\r\n]+", " ", cell).strip(" ") for cell in row]
        if any(cells):
            yield line, cells
        line = reader.line_num + 1


def cell_of(header: list[str], row: list[str], *names: str) -> bytes:
    """Find the cell whose column starts with one of these words."""
    for title, cell in zip(header, row, strict=False):
        if title.startswith(names):
            return cell.encode("latin-1")
    return b""


def iana_date(value: bytes, reasons: set[Reason]) -> int:
    """Read `YYYY-MM` as the first of the month, and anything else as a date."""
    return date(value + b"-01" if re.fullmatch(rb"[0-9]{4}-[0-9]{2}", value) else value, reasons)


def take_row(dump: SlowDump, header: list[str], row: list[str], line: int) -> set[Reason]:
    """Add the registration of one row; return the reasons why it is not simply kept."""
    reasons: set[Reason] = set()
    designation = text(cell_of(header, row, "Designation", "Allocation"), reasons)
    try:
        first, last, family = address_range(cell_of(header, row, "Prefix", "IPv6 Prefix"), reasons)
    except SkipError as skip:
        return {skip.reason}
    dump.registrations.append(
        SlowRegistration(
            first=first,
            last=last,
            family=family,
            netname=designation,
            descr=designation,
            status=text(cell_of(header, row, "Status"), reasons),
            date=iana_date(cell_of(header, row, "Date"), reasons),
            registry=Registry.IANA,
            line=line,
        )
    )
    return reasons - {Reason.LEADING_ZERO}
