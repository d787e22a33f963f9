"""Columns of the parser spelled out as the slow twin spells its results, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ipmicra.model.finding import FATE_OF, Fate, Reason, Tally
from ipmicra.model.organisation import HolderEvidence
from ipmicra.model.registry import Registry
from ipmicra.parse.columns import Columns, Rows
from ipmicra.parse.fields import Text
from tests.reference.slow_hierarchy import detail_of, evidence_of
from tests.reference.slow_parser import SlowDump, SlowOrganisation, SlowRegistration


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRegistration:
    """What columns keep of a registration."""

    first: int
    last: int
    family: int
    netname: str
    holder: str
    """What names the holder best."""
    evidence: HolderEvidence
    status: str
    geoloc: str
    geofeed: str
    address: str
    country: str
    date: int
    registry: Registry
    detail: int
    """Number of values that the paragraph had."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDump:
    """All that columns keep of one dump."""

    registrations: list[KeptRegistration]
    organisations: list[SlowOrganisation]
    findings: list[tuple[int, Fate, Reason]]
    tally: Tally


def spelled_out(columns: Columns) -> KeptDump:
    """Return everything in the columns."""
    registrations = [*_registrations(columns, 4), *_registrations(columns, 6)]
    findings = [
        (int(line), FATE_OF[Reason(int(reason))], Reason(int(reason)))
        for line, reason in zip(columns.findings.line, columns.findings.reason, strict=True)
    ]
    return KeptDump(
        registrations=sorted(registrations, key=lambda found: found.line),
        organisations=list(_organisations(columns)),
        findings=sorted(findings),
        tally=columns.tally,
    )


def in_order(dump: SlowDump) -> KeptDump:
    """Reduce the slow parser's result to what is kept, in the same order."""
    return KeptDump(
        registrations=[kept(found) for found in sorted(dump.registrations, key=lambda found: found.line)],
        organisations=sorted(dump.organisations, key=lambda found: found.line),
        findings=sorted(dump.findings),
        tally=dump.tally,
    )


def kept(registration: SlowRegistration) -> KeptRegistration:
    """Reduce a registration to what is kept of it."""
    evidence, holder = evidence_of(registration)
    return KeptRegistration(
        first=registration.first,
        last=registration.last,
        family=registration.family,
        netname=registration.netname,
        holder=holder,
        evidence=evidence,
        status=registration.status,
        geoloc=registration.geoloc,
        geofeed=registration.geofeed,
        address=registration.address,
        country=registration.country,
        date=registration.date,
        registry=registration.registry,
        detail=detail_of(registration),
        line=registration.line,
    )


def _texts(columns: Columns, rows: Rows, row: int) -> list[str]:
    return [columns.texts.spell(int(column[row])) if len(column) else "" for column in rows.texts]


def _country(rows: Rows, row: int) -> str:
    code = int(rows.country[row])
    return chr(code >> 8) + chr(code & 255) if code else ""


def _registrations(columns: Columns, family: int) -> Iterator[KeptRegistration]:
    rows = columns.rows4 if family == 4 else columns.rows6
    for row in range(len(rows)):
        if family == 4:
            first, last = int(columns.first4[row]), int(columns.last4[row])
        else:
            high, low, last_high, last_low = (int(word) for word in columns.wide6[row])
            first, last = high << 64 | low, last_high << 64 | last_low
        texts = _texts(columns, rows, row)
        yield KeptRegistration(
            first=first,
            last=last,
            family=family,
            netname=texts[Text.NETNAME],
            holder=texts[Text.HOLDER],
            evidence=HolderEvidence(int(rows.holder[row])),
            status=texts[Text.STATUS],
            geoloc=texts[Text.GEOLOC],
            geofeed=texts[Text.GEOFEED],
            address=texts[Text.ADDRESS],
            country=_country(rows, row),
            date=int(rows.date[row]),
            registry=Registry(int(rows.registry[row])),
            detail=int(rows.detail[row]),
            line=int(rows.line[row]),
        )


def _organisations(columns: Columns) -> Iterator[SlowOrganisation]:
    rows = columns.organisations
    for row in range(len(rows)):
        handle, name, address = _texts(columns, rows, row)
        yield SlowOrganisation(
            handle=handle,
            name=name,
            address=address,
            country=_country(rows, row),
            date=int(rows.date[row]),
            registry=Registry(int(rows.registry[row])),
            line=int(rows.line[row]),
        )
