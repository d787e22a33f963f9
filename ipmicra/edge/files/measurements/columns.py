"""Which column of a file of measurements is which: by name, or by what stands in it.

How it works
------------
Three columns are needed: who measured, what was measured (an address, a host or both), and the round trip.
Names decide first. Each list below is in order of preference, and a column takes part under one spelling
only (`_plain`), so that `Min RTT (ms)`, `minRttMs` and `min_rtt_ms` are the same. A column of times must
also hold times: exports often have a `time` that is a date beside the round trip. A unit in a cell
(`cells.py`) counts before the one in the column's name; without either, times are milliseconds.

A file without a header may still be read by its contents: addresses look like addresses, times like times,
and what is left over names the crawlers. Only the first row decides whether there is a header: if its
address cell is an address, it is data. A first row of unknown names is an error that lists them, not a
guess: whoever named the columns can rename them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ipmicra.edge.files.measurements.cells import is_address, is_time
from ipmicra.errors import InputError

CRAWLERS = (
    *(
        "crawler",
        "crawler_name",
        "crawler_id",
        "agent",
        "vantage",
        "vantage_point",
        "vp",
        "probe",
        "probe_id",
    ),
    *("prb_id", "monitor", "node", "worker", "spider", "region", "from", "source", "src", "src_name"),
    *("source_host", "src_host", "from_host", "source_ip", "source_address", "src_addr", "src_ip", "client"),
)
ADDRESSES = (
    *("address", "ip", "ip_address", "addr", "site_address", "target_address", "target_ip", "dst_addr"),
    *("dst_ip", "destination_ip", "destination_address", "dest_ip", "remote_ip", "remote_addr"),
    *("remote_address", "server_ip", "host_ip", "target", "destination", "dest", "dst", "to"),
)
HOSTS = (
    *("host", "hostname", "host_name", "site", "domain", "fqdn", "url", "url_effective", "dst_name"),
    *("target_name", "target_host", "server", "website"),
)
TIMES = (
    *("min_rtt", "rtt_min", "min", "minimum", "rtt", "round_trip", "round_trip_time", "roundtrip", "latency"),
    *("ping", "ping_time", "delay", "tcp", "tcp_rtt", "connect", "connect_time", "time_connect", "median"),
    *("median_rtt", "rtt_median", "avg", "average", "mean", "avg_rtt", "rtt_avg", "mean_rtt", "rtt_mean"),
    *("time", "value", ""),
)
"""Without their unit; the shortest of several times comes first, and a bare unit (`ms`) last."""
TODAY = ("today", "assigned", "assigned_to", "assigned_crawler", "current", "current_crawler", "crawled_by")
UNITS = {
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds", "millisecond"), 1.0),
    **dict.fromkeys(("s", "sec", "secs", "seconds", "second"), 1000.0),
    **dict.fromkeys(("us", "usec", "µs", "μs", "microseconds"), 0.001),
}
"""Milliseconds in each."""
IN_SECONDS = frozenset({"time_connect"})
"""Names of curl's times, which are seconds."""
EXAMPLE = "crawler,address,rtt_ms"
MOST = 0.6
"""Share of the cells looked at that must be addresses, or times, for a column without a name to be theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Numbers of the columns, and what a time counts in."""

    crawler: int
    address: int | None
    host: int | None
    """At least one of address and host is set."""
    time: int
    today: int | None = None
    ms_per_unit: float = 1.0
    is_unit_named: bool = False
    has_header: bool = False
    names: tuple[str, ...] = ()
    """As the file writes them; empty without a header."""

    @property
    def needed(self) -> int:
        """Cells that a row must have."""
        return 1 + max(one for one in (self.crawler, self.address, self.host, self.time) if one is not None)

    def spelled(self) -> str:
        """Describe which column is read for what."""
        roles = {
            "crawler": self.crawler,
            "address": self.address,
            "host": self.host,
            "round trip": self.time,
            "crawler of today": self.today,
        }
        parts = [
            f"{role} from {self.names[one]!r}" if self.names else f"{role} from column {one + 1}"
            for role, one in roles.items()
            if one is not None
        ]
        unit = {1.0: "milliseconds", 1000.0: "seconds", 0.001: "microseconds"}[self.ms_per_unit]
        return f"{', '.join(parts)}, in {unit}"


def find_columns(name: str, header: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> Columns:
    """Find the columns by names, given or in the first row, else by what the first rows hold."""
    first = header if header is not None else (rows[0] if rows else ())
    by_name = _by_name(first, rows if header is not None else rows[1:])
    if by_name is not None:
        return by_name
    by_content = _by_content(rows) if header is None else None
    if by_content is not None:
        return by_content
    raise InputError(
        f"{name}: cannot determine which columns are the crawler, the site's address and the round trip; "
        f"there are {', '.join(map(repr, first)) or 'none'}. Name them in the first line, as in {EXAMPLE}"
    )


def _by_name(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Columns | None:
    """Take columns by their names; None if one of the three is missing."""
    plain = [_plain(cell) for cell in header]
    crawler = _first(plain, CRAWLERS)
    address, host = _first(plain, ADDRESSES), _first(plain, HOSTS)
    time, factor, is_named = _time(plain, rows)
    if crawler is None or time is None or (address is None and host is None):
        return None
    return Columns(
        crawler=crawler,
        address=address,
        host=host,
        time=time,
        today=_first(plain, TODAY),
        ms_per_unit=factor,
        is_unit_named=is_named,
        has_header=True,
        names=tuple(header),
    )


def _plain(text: str) -> str:
    """Normalise a column's name: `Min RTT (ms)` and `minRttMs` become `min_rtt_ms`."""
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text.strip())
    return re.sub(r"[^\wµμ]+", "_", separated.lower()).strip("_")


def _first(plain: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((plain.index(name) for name in wanted if name in plain), None)


def _time(plain: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[int | None, float, bool]:
    """Return the column of round trips, milliseconds in its unit, and whether the name has the unit.

    The first whose cells are times: a column called `time` may hold dates.
    """
    found: list[tuple[int | None, float, bool]] = []
    for wanted in TIMES:
        for number, name in enumerate(plain):
            base, _, unit = name.rpartition("_")
            if unit in UNITS and base == wanted:
                found.append((number, UNITS[unit], True))
            elif name == wanted and name:
                found.append((number, 1000.0 if name in IN_SECONDS else 1.0, name in IN_SECONDS))
    for one in found:
        cells = [row[one[0]] for row in rows if one[0] is not None and len(row) > one[0]]
        if _share(map(is_time, cells)) >= MOST:
            return one
    return found[0] if found else (None, 1.0, False)


def _by_content(rows: Sequence[Sequence[str]]) -> Columns | None:
    """Take columns by what they hold: addresses, times, and what is left over for the crawler."""
    width = min((len(row) for row in rows), default=0)
    cells = [[row[number] for row in rows] for number in range(width)]
    addresses = [n for n in range(width) if _share(map(is_address, cells[n])) >= MOST]
    times = [n for n in range(width) if n not in addresses and _share(map(is_time, cells[n])) >= MOST]
    words = [n for n in range(width) if n not in addresses and n not in times]
    if len(addresses) > 1 and not words:
        words, addresses = addresses[:1], addresses[1:]
    if len(times) > 1 and not words:
        words, times = times[:1], times[1:]
    if not (addresses and times and words) or not is_address(cells[addresses[0]][0]):
        return None  # what has names in its first row must name these
    host = next((n for n in words[1:] if _share("." in cell for cell in cells[n]) >= MOST), None)
    return Columns(crawler=words[0], address=addresses[0], host=host, time=times[-1])


def _share(marks: object) -> float:
    found = list(marks)  # type: ignore[call-overload]
    return sum(found) / len(found) if found else 0.0
