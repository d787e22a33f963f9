"""Columns of the parser spelled out as the slow twin spells its results, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Iterator

from ipmicra.model.finding import FATE_OF, Reason
from ipmicra.model.registry import Registry
from ipmicra.parse.columns import Columns, Rows
from ipmicra.parse.fields import Field, Holder
from tests.reference.slow_parser import SlowDump, SlowOrganisation, SlowRegistration


def spelled_out(columns: Columns) -> SlowDump:
    """Return everything in the columns as the slow parser gives it."""
    registrations = [*_registrations(columns, 4), *_registrations(columns, 6)]
    findings = [
        (int(line), FATE_OF[Reason(int(reason))], Reason(int(reason)))
        for line, reason in zip(columns.findings.line, columns.findings.reason, strict=True)
    ]
    return SlowDump(
        registrations=sorted(registrations, key=lambda found: found.line),
        organisations=list(_organisations(columns)),
        findings=sorted(findings),
        tally=columns.tally,
    )


def in_order(dump: SlowDump) -> SlowDump:
    """Bring the slow parser's result into the same order."""
    return SlowDump(
        registrations=sorted(dump.registrations, key=lambda found: found.line),
        organisations=sorted(dump.organisations, key=lambda found: found.line),
        findings=sorted(dump.findings),
        tally=dump.tally,
    )


def _texts(columns: Columns, rows: Rows, row: int) -> list[str]:
    at = int(rows.text[row])
    texts = []
    for length in rows.lengths[row]:
        texts.append(columns.text[at : at + int(length)].tobytes().decode("utf-8"))
        at += int(length)
    return texts


def _country(rows: Rows, row: int) -> str:
    code = int(rows.country[row])
    return chr(code >> 8) + chr(code & 255) if code else ""


def _registrations(columns: Columns, family: int) -> Iterator[SlowRegistration]:
    rows = columns.rows4 if family == 4 else columns.rows6
    for row in range(len(rows)):
        if family == 4:
            first, last = int(columns.first4[row]), int(columns.last4[row])
        else:
            high, low, last_high, last_low = (int(word) for word in columns.wide6[row])
            first, last = high << 64 | low, last_high << 64 | last_low
        texts = _texts(columns, rows, row)
        holder = Holder(int(rows.holder[row]))
        yield SlowRegistration(
            first=first,
            last=last,
            family=family,
            netname=texts[Field.NETNAME],
            descr=texts[Field.DESCR],
            handle=texts[Field.HANDLE],
            maintainer=texts[Field.MAINTAINER],
            status=texts[Field.STATUS],
            geoloc=texts[Field.GEOLOC],
            geofeed=texts[Field.GEOFEED],
            country=_country(rows, row),
            date=int(rows.date[row]),
            registry=Registry(int(rows.registry[row])),
            holder="" if holder is Holder.NONE else holder.name,
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
