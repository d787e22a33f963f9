"""IANA's address space tables, the top level of every hierarchy."""

from __future__ import annotations

import csv
import datetime
import io
import re
from ipaddress import IPv4Network, IPv6Network

from ipmicra.model.finding import Reason
from ipmicra.model.registry import Registry
from ipmicra.parse import sheets
from ipmicra.parse.fields import STORED_TEXTS, Field
from ipmicra.parse.sheets import Sheet

_EPOCH = datetime.date(1969, 12, 31)
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_SHORT_IPV4 = re.compile(r"(\d{1,3})((?:\.\d{1,3}){0,3})/(\d{1,3})")
_LOW = (1 << 64) - 1
_LONGEST_TEXT = 1000


def read_iana(data: bytes, sheet: Sheet) -> None:
    """Read a whole CSV file into a sheet."""
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""))
    header = next(reader)
    names = {name.split(" [")[0].strip().lower(): i for i, name in enumerate(header)}
    line = reader.line_num
    sheet.counts[sheets.SKIPPED] += 1
    _add_finding(sheet, 1, Reason.HEADER, "")
    for record in reader:
        if any(cell.strip() for cell in record):
            _read_record(record, names, line + 1, sheet)
        line = reader.line_num
    sheet.counts[sheets.LINES] = line


def _cell(record: list[str], names: dict[str, int], *wanted: str) -> str:
    """Give the first of the named cells that the table has, in one line."""
    for name in wanted:
        if names.get(name, len(record)) < len(record):
            return " ".join(record[names[name]].split())
    return ""


def _read_record(record: list[str], names: dict[str, int], line: int, sheet: Sheet) -> None:
    """Read one prefix, or note why not."""
    prefix = _cell(record, names, "prefix", "ipv6 prefix")
    network, reason, has_host_bits = _network(prefix)
    if network is None:
        sheet.counts[sheets.SKIPPED] += 1
        _add_finding(sheet, line, reason, ",".join(record))
        return
    date_text = _cell(record, names, "date")
    days = _days(date_text)
    _put_row(sheet, network, line, days, _texts(record, names))
    repairs = [Reason.HOST_BITS] if has_host_bits else []
    if date_text and not days:
        repairs.append(Reason.BAD_DATE)
    sheet.counts[sheets.REPAIRED if repairs else sheets.KEPT] += 1
    for repair in repairs:
        _add_finding(sheet, line, repair, ",".join(record))


def _texts(record: list[str], names: dict[str, int]) -> dict[Field, str]:
    """Gather the texts of one record."""
    designation = _cell(record, names, "designation", "allocation")
    return {
        Field.NETNAME: designation,
        Field.DESCR: designation,
        Field.STATUS: _cell(record, names, "status"),
    }


def _network(prefix: str) -> tuple[IPv4Network | IPv6Network | None, Reason, bool]:
    """Read a prefix in IANA's forms: `003/8`, `2001:0000::/23`; also tell whether bits had to be cleared."""
    if not prefix:
        return None, Reason.NO_RANGE, False
    network_type: type[IPv4Network | IPv6Network] = IPv6Network
    match = _SHORT_IPV4.fullmatch(prefix)
    if match:
        octets = [int(octet) for octet in (match[1] + match[2]).split(".")] + [0, 0, 0]
        network_type, prefix = IPv4Network, ".".join(map(str, octets[:4])) + "/" + match[3]
        if max(octets) > 255 or int(match[3]) > 32:  # noqa: PLR2004
            return None, Reason.OUT_OF_RANGE, False
    try:
        network = network_type(prefix, strict=False)
    except ValueError:
        return None, Reason.BAD_RANGE, False
    return (
        network,
        Reason.HOST_BITS,
        network.network_address != type(network.network_address)(prefix.split("/")[0]),
    )


def _days(text: str) -> int:
    """Count the days since 1969-12-31; 0 for no date."""
    match = _DATE.match(text)
    if match is None:
        return 0
    try:
        date = datetime.date(int(match[1]), int(match[2]), int(match[3] or 1))
    except ValueError:
        return 0
    days = (date - _EPOCH).days
    return days if 0 < days <= 0xFFFF else 0  # noqa: PLR2004


def _put_row(
    sheet: Sheet, network: IPv4Network | IPv6Network, line: int, days: int, texts: dict[Field, str]
) -> None:
    """Write one registration."""
    is_ipv4 = isinstance(network, IPv4Network)
    rows, place = (sheet.rows4, sheets.ROWS4) if is_ipv4 else (sheet.rows6, sheets.ROWS6)
    row = rows[sheet.counts[place]]
    first, last = int(network.network_address), int(network.broadcast_address)
    if is_ipv4:
        row[sheets.FIRST], row[sheets.LAST] = first, last
    else:
        sheet.wide6[sheet.counts[place]] = first >> 64, first & _LOW, last >> 64, last & _LOW
    row[sheets.AT], row[sheets.LINE] = sheet.counts[sheets.TEXT], line
    row[sheets.COUNTRY], row[sheets.DATE] = 0, days
    row[sheets.REGISTRY], row[sheets.HOLDER] = int(Registry.IANA), 0
    for column in range(STORED_TEXTS):
        row[sheets.LENGTHS + column] = _put_text(sheet, texts.get(Field(column), ""), _LONGEST_TEXT)
    sheet.counts[place] += 1


def _put_text(sheet: Sheet, text: str, longest: int) -> int:
    """Append a text; give its length in bytes."""
    data = text.encode()[:longest].decode("utf-8", "ignore").encode()
    at = int(sheet.counts[sheets.TEXT])
    sheet.text[at : at + len(data)] = list(data)
    sheet.counts[sheets.TEXT] = at + len(data)
    return len(data)


def _add_finding(sheet: Sheet, line: int, reason: Reason, record: str) -> None:
    """Write one finding with the record as its excerpt."""
    finding = sheet.findings[sheet.counts[sheets.FINDINGS]]
    finding[sheets.FINDING_LINE], finding[sheets.FINDING_REASON] = line, int(reason)
    finding[sheets.FINDING_AT] = sheet.counts[sheets.TEXT]
    finding[sheets.FINDING_LENGTH] = _put_text(sheet, record, 80)
    sheet.counts[sheets.FINDINGS] += 1
