"""How each style of dump writes a range, a registration and an organisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.dump_rows import (
    Fault,
    Row,
    arin_range,
    ipv4,
    ipv6,
    ipv6_prefix,
    lacnic_range,
    large_ipv4,
    padded_ipv4,
    rpsl_range,
)
from benchmarks.invented_text import LINES, Holder, Vocabulary, handle

STATUSES_RIPE = ("ALLOCATED UNSPECIFIED", "ALLOCATED PA", "SUB-ALLOCATED PA", "ASSIGNED PA")
STATUSES_RIPE6 = ("ALLOCATED-BY-RIR", "ALLOCATED-BY-RIR", "ALLOCATED-BY-LIR", "ASSIGNED")
STATUSES_APNIC = (
    "ALLOCATED PORTABLE",
    "ALLOCATED PORTABLE",
    "ALLOCATED NON-PORTABLE",
    "ASSIGNED NON-PORTABLE",
)
STATUSES_ARIN = ("allocation", "allocation", "reallocation", "reassignment")
STATUSES_LACNIC = ("allocated", "allocated", "reallocated", "reassigned")
RIPE_MAINTAINER = "mnt-by:         RIPE-NCC-HM-MNT\n"
APNIC_MAINTAINER = "mnt-by:         APNIC-HM\n"
LINE_END = "\n"


def netname(row: Row, words: Vocabulary) -> str:
    """Name a range: half of them alike, half not."""
    if row.number & 1:
        return f"{row.holder.stem}-NET"
    return f"{row.holder.stem}-{words.words[row.line % len(words.words)].upper()}-{row.number}"


def description(row: Row, words: Vocabulary, key: str) -> str:
    """Write one to four lines of description, one of them continued if the row says so."""
    lines = [words.lines[(row.line + 977 * i) % LINES] for i in range(row.lines)]
    if row.is_foreign:
        lines[0] = words.foreign_lines[row.line % len(words.foreign_lines)]
    if row.lines > 1:
        lines[1] = row.holder.name
    text = "".join(f"{key}{line}\n" for line in lines)
    return f"{text}                {row.holder.city}\n+ {row.holder.street}\n" if row.is_continued else text


def geography(row: Row) -> str:
    """Write the attribute with a location, if there is one."""
    if row.geo == 1:
        return f"geoloc:         {row.number % 80}.{row.line % 97} {row.line % 170}.{row.number % 89}\n"
    if row.geo == 2:
        return f"geofeed:        https://{row.holder.domain}/geofeed/{row.number}.csv\n"
    return f"remarks:        Geofeed https://{row.holder.domain}/geofeed.csv\n" if row.geo == 3 else ""


def rpsl_head(row: Row, words: Vocabulary, ending: str) -> str:
    """Write what RIPE and APNIC have in common: all from the range to the contacts."""
    holder = row.holder
    admin, tech = (handle(row.number), holder.contacts[1]) if row.has_own_contact else holder.contacts
    organisation = (
        f"org:            ORG-{handle(row.organisation)}{ending}\n" if row.organisation >= 0 else ""
    )
    return (
        f"{'inetnum:        ' if row.family == 4 else 'inet6num:       '}{rpsl_range(row)}\n"
        f"netname:        {netname(row, words)}\n{description(row, words, 'descr:          ')}"
        f"country:        {holder.country}\n{organisation}"
        f"admin-c:        {admin}{ending}\ntech-c:         {tech}{ending}\n"
    )


def ripe_registration(row: Row, words: Vocabulary) -> str:
    """Write a registration as RIPE does, with many remarks."""
    maintainer = f"{row.holder.stem}-MNT\n"
    remarks = "".join([f"remarks:        {line}\n" for line in row.holder.remarks])
    if row.has_own_remark:
        remarks += f"remarks:        {words.lines[(row.line * 7 + row.number) % LINES]}\n"
    has_routes = row.rank < 3 or row.number % 4 == 0
    modified = words.times[row.clock - (row.modified > row.created)]
    return (
        f"{rpsl_head(row, words, '-RIPE')}"
        f"status:         {(STATUSES_RIPE if row.family == 4 else STATUSES_RIPE6)[row.rank]}\n"
        f"{remarks}{geography(row)}"
        f"{RIPE_MAINTAINER if row.rank < 2 else ''}mnt-by:         {maintainer}"
        f"{'mnt-lower:      ' + maintainer if row.rank < 3 else ''}"
        f"{'mnt-routes:     ' + maintainer if has_routes else ''}"
        f"created:        {words.days[row.created]}T{words.times[row.clock]}Z\n"
        f"last-modified:  {words.days[row.modified]}T{modified}Z\nsource:         RIPE\n"
    )


def ripe_organisation(number: int, holder: Holder, words: Vocabulary) -> str:
    """Write an organisation as RIPE does."""
    return (
        f"organisation:   ORG-{handle(number)}-RIPE\n"
        f"org-name:       {holder.name} {words.words[number % len(words.words)]}\n"
        f"org-type:       OTHER\naddress:        {holder.street}\n"
        f"address:        {number % 99999} {holder.city}\ncountry:        {holder.country}\n"
        f"phone:          +{holder.phone}\nabuse-c:        {handle(3 * number)}-RIPE\n"
        f"mnt-ref:        {holder.stem}-MNT\nmnt-by:         {holder.stem}-MNT\n"
        f"created:        {words.days[number % 7000]}T{words.times[number % 19_000]}Z\n"
        f"last-modified:  {words.days[number % 6000 + 1999]}T{words.times[number % 17_000]}Z\n"
        f"source:         RIPE # Filtered\n"
    )


def apnic_registration(row: Row, words: Vocabulary) -> str:
    """Write a registration as APNIC does, with few remarks."""
    holder = row.holder
    remark = (
        f"remarks:        {holder.remarks[row.number % len(holder.remarks)]}\n" if row.has_own_remark else ""
    )
    return (
        f"{rpsl_head(row, words, '-AP')}abuse-c:        A{holder.contacts[0]}-AP\n"
        f"status:         {STATUSES_APNIC[row.rank]}\n{remark}{geography(row)}"
        f"{APNIC_MAINTAINER if row.rank < 2 else ''}"
        f"mnt-by:         MAINT-{holder.country}-{holder.stem}\n"
        f"mnt-irt:        IRT-{holder.stem}-{holder.country}\n"
        f"last-modified:  {words.days[row.modified]}T{words.times[row.clock]}Z\nsource:         APNIC\n"
    )


def apnic_organisation(number: int, holder: Holder, words: Vocabulary) -> str:
    """Write an organisation as APNIC does."""
    return (
        ripe_organisation(number, holder, words).replace("-RIPE", "-AP").replace("RIPE # Filtered", "APNIC")
    )


def arin_registration(row: Row, words: Vocabulary) -> str:
    """Write a registration as ARIN does."""
    holder = row.holder
    mark = (
        (ipv4(row.first) if row.family == 4 else ipv6(row.first)).replace(".", "-").replace(":", "-").upper()
    )
    organisation = f"OrgID:          {handle(row.organisation)}\n" if row.organisation >= 0 else ""
    geofeed = f"Comment:        Geofeed https://{holder.domain}/geofeed.csv\n" if row.geo else ""
    return (
        f"{'NetHandle:      NET-' if row.family == 4 else 'V6NetHandle:    NET6-'}{mark}-{row.number % 9}\n"
        f"{organisation}Parent:         NET-{holder.contacts[0]}-{holder.number}-0\n"
        f"NetName:        {netname(row, words)}\nNetRange:       {arin_range(row)}\n"
        f"NetType:        {STATUSES_ARIN[row.rank]}\n{description(row, words, 'Comment:        ')}{geofeed}"
        f"RegDate:        {words.days[row.created]}\nUpdated:        {words.days[row.modified]}\n"
        f"TechHandle:     {holder.contacts[1]}-ARIN\nAbuseHandle:    {holder.contacts[0]}-ARIN\n"
        f"Source:         ARIN\n"
    )


def arin_organisation(number: int, holder: Holder, words: Vocabulary) -> str:
    """Write an organisation as ARIN does."""
    return (
        f"OrgID:          {handle(number)}\n"
        f"OrgName:        {holder.name} {words.words[number % len(words.words)]}\n"
        f"Street:         {holder.street}\nCity:           {holder.city}\nState/Prov:     {holder.country}\n"
        f"Country:        {holder.country}\nPostalCode:     {number % 99999:05}\n"
        f"RegDate:        {words.days[number % 7000]}\nUpdated:        {words.days[number % 6000 + 1999]}\n"
        f"OrgTechHandle:  {holder.contacts[0]}-ARIN\nSource:         ARIN\n"
    )


def lacnic_registration(row: Row, words: Vocabulary) -> str:
    """Write a registration as LACNIC does, its holder inside."""
    holder, names = row.holder, words.words
    owner = words.lines[row.line] if row.rank == 3 else holder.name
    if row.is_foreign:
        owner = words.foreign_lines[row.line % len(words.foreign_lines)]
    person = f"{names[row.line % len(names)].capitalize()} {names[row.number % len(names)].capitalize()}"
    return (
        f"inetnum:     {lacnic_range(row)}\nstatus:      {STATUSES_LACNIC[row.rank]}\nowner:       {owner}\n"
        f"{f'             {holder.city}' + LINE_END if row.is_continued else ''}"
        f"ownerid:     {holder.country}-{handle(row.number if row.rank == 3 else holder.number)}-LACNIC\n"
        f"responsible: {person}\naddress:     {holder.street}, {row.number % 97},\n"
        f"address:     {row.number % 9999:05} - {holder.city} -\ncountry:     {holder.country}\n"
        f"phone:       +{holder.phone}\n"
        f"owner-c:     {handle(row.number) if row.has_own_contact else holder.contacts[0]}\n"
        f"tech-c:      {holder.contacts[1]}\nabuse-c:     {holder.contacts[1]}\n"
        f"created:     {words.days[row.created].replace('-', '')}\n"
        f"changed:     {words.days[row.modified].replace('-', '')}\n"
    )


def statistics_line(row: Row, words: Vocabulary) -> str:
    """Write a line of delegated-extended statistics; it is a paragraph of its own."""
    if row.family == 6:
        start, _, value = ipv6_prefix(row).partition("/")
    else:
        writers = {Fault.OUT_OF_RANGE: large_ipv4(row), Fault.LEADING_ZERO: padded_ipv4(row.first)}
        start = writers.get(Fault(row.fault), ipv4(row.first))
        value = str(row.last - row.first + 1)
    day = words.days[row.created].replace("-", "")
    status = "allocated" if row.rank < 2 else "assigned"
    opaque = f"{row.holder.number:08x}-{row.holder.phone}"
    return f"ripencc|{row.holder.country}|ipv{row.family}|{start}|{value}|{day}|{status}|{opaque}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The form of a dump, and where its registry hands out addresses."""

    registration: Callable[[Row, Vocabulary], str]
    organisation: Callable[[int, Holder, Vocabulary], str] | None
    octets: tuple[int, ...]
    """First octets of its pools of IPv4."""
    pool6: int
    """First 12 bits of its pool of IPv6."""
    countries: tuple[str, ...]
    encoding: str
    faults: frozenset[Fault] = frozenset(Fault) - {Fault.NONE}
    """What can be wrong with an IPv4 range in this style."""
    faults6: frozenset[Fault] = frozenset({Fault.HOST_BITS, Fault.OUT_OF_RANGE})
    lacks: frozenset[str] = frozenset()
    """Kinds that are drawn and then not written."""


RIPE_OCTETS = (2, 5, 31, 37, 46, 62, *range(77, 96), 109, 176, 178, 185, 193, 194, 195, 212, 213, 217)
APNIC_OCTETS = (
    1,
    14,
    27,
    36,
    39,
    42,
    43,
    49,
    58,
    59,
    60,
    61,
    101,
    103,
    106,
    *range(110, 127),
    175,
    180,
    182,
    183,
    202,
)
ARIN_OCTETS = (
    23,
    24,
    50,
    *range(63, 77),
    96,
    97,
    98,
    99,
    100,
    104,
    107,
    108,
    173,
    174,
    184,
    199,
    *range(204, 210),
    216,
)
LACNIC_OCTETS = (177, 179, 181, 186, 187, 189, 190, 191, 200, 201)

STYLES = {
    "ripe": Style(
        registration=ripe_registration,
        organisation=ripe_organisation,
        octets=RIPE_OCTETS,
        pool6=0x2A0,
        countries=(
            "DE",
            "GB",
            "FR",
            "NL",
            "IT",
            "RU",
            "ES",
            "SE",
            "PL",
            "GR",
            "TR",
            "IR",
            "UA",
            "CZ",
            "DK",
            "AE",
        ),
        encoding="latin-1",
    ),
    "apnic": Style(
        registration=apnic_registration,
        organisation=apnic_organisation,
        octets=APNIC_OCTETS,
        pool6=0x240,
        countries=("AU", "JP", "IN", "CN", "KR", "NZ", "SG", "HK", "TW", "TH", "VN", "ID", "MY", "PH"),
        encoding="utf-8",
    ),
    "arin": Style(
        registration=arin_registration,
        organisation=arin_organisation,
        octets=ARIN_OCTETS,
        pool6=0x260,
        countries=("US", "CA", "US", "JM", "BS"),
        encoding="utf-8",
    ),
    "lacnic": Style(
        registration=lacnic_registration,
        organisation=None,
        octets=LACNIC_OCTETS,
        pool6=0x280,
        countries=("BR", "AR", "MX", "CL", "CO", "UY", "PE", "EC"),
        encoding="latin-1",
        lacks=frozenset({"geo", "organisation", "with_organisation"}),
    ),
    "statistics": Style(
        registration=statistics_line,
        organisation=None,
        octets=RIPE_OCTETS,
        pool6=0x2A0,
        countries=("DE", "GB", "FR", "NL", "IT", "RU", "ES", "SE", "PL", "GR"),
        encoding="ascii",
        faults=frozenset({Fault.OUT_OF_RANGE, Fault.LEADING_ZERO}),
        lacks=frozenset({"continued", "foreign", "geo", "organisation", "with_organisation"}),
    ),
}
"""By the name that the command line takes."""
