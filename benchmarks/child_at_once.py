"""Delegate addresses by their hash, then write the same rows with a bare `executemany`; print both as JSON.

Run by `benchmarks.keeping`, in a process of its own because memory is measured. The bare rows go into two
kinds of tables, in the order in which the batch wrote them, so many of each at a time: those whose primary
keys are what rows are looked up by, host and address, and those of the store, which are appended to.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sqlite3
import sys
import tempfile
import time
from array import array
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.child_peak import sizes_of
from ipmicra.app.build.build import build
from ipmicra.app.delegate.batch import Batch, BatchReport
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler

CRAWLERS = 8
DUMP = "inetnum: 203.0.113.0 - 203.0.113.255\nnetname: N\ncountry: GR\nsource: RIPE\n\n"
AT_ONCE, HUNDREDTHS = 10_000, 100
KEYED = """
    DROP TABLE results;
    DROP TABLE delegations;
    CREATE TABLE results (
        batch INTEGER, host TEXT, address BLOB, first BLOB, last BLOB, crawler TEXT, evidence TEXT,
        rtt_ms FLOAT, probes INTEGER, PRIMARY KEY (batch, host)
    );
    CREATE TABLE delegations (
        first BLOB, last BLOB, crawler TEXT, evidence TEXT, rtt_ms FLOAT, probes INTEGER, created_s FLOAT,
        expires_s FLOAT, address BLOB, latitude FLOAT, longitude FLOAT, radius_km FLOAT, country TEXT,
        account TEXT, PRIMARY KEY (first, last)
    ) WITHOUT ROWID;
"""
"""Tables sorted by what rows are looked up by."""
PAGE = resource.getpagesize()


def main(sites: int) -> None:
    """Measure tenths of the batch, its memory after the first three of them and at its end, and the rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.db").write_text(DUMP)
        build([folder / "a.db"], folder / "a.ipm")
        seconds, resident = _delegate(folder, sites)
        _resident, peak_bytes = sizes_of(os.getpid())  # ru_maxrss counts what the parent had before it
        keyed = _write_bare(folder, folder / "keyed.db", KEYED)
        appended = _write_bare(folder, folder / "appended.db", "")
    tenth = HUNDREDTHS // 10
    told = {
        "sites_per_s": sites / sum(seconds),
        "keyed_per_s": sites / sum(keyed),
        "appended_per_s": sites / sum(appended),
        "first_tenth_s": sum(seconds[:tenth]),
        "last_tenth_s": sum(seconds[-tenth:]),
        "keyed_tenths": _last_by_first(keyed),
        "appended_tenths": _last_by_first(appended),
        "grown_bytes": resident[-1] - resident[3 * tenth],
        "peak_bytes": peak_bytes,
    }
    print(json.dumps(told))


def _last_by_first(seconds: list[float]) -> float:
    tenth = max(1, len(seconds) // 10)
    return sum(seconds[-tenth:]) / sum(seconds[:tenth])


def _delegate(folder: Path, sites: int) -> tuple[list[float], list[int]]:
    """Run the batch; return processor time of each hundredth of what is written, and resident memory.

    Sites are written thousands at a time, so the time of a hundredth is interpolated between two writings: by
    seeds read, the first tenth would leave the writing of its last sites to the second.
    """
    written, seconds, resident = [0], [time.process_time()], []

    def note(report: BatchReport, _read: int) -> None:
        if report.sites > written[-1]:
            written.append(report.sites)
            seconds.append(time.process_time())
            resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * PAGE)

    numbers = array("I", random.Random(1).sample(range(1 << 24, 223 << 24), sites))
    seeds = (str(IPv4Address(number)) for number in numbers)
    with Hierarchy.open(folder / "a.ipm") as hierarchy, Store.open(str(folder / "state.db")) as store:
        for i in range(CRAWLERS):
            store.crawlers.put(Member(crawler=Crawler(name=f"c{i}", address=IPv4Address(f"198.51.99.{i}"))))
        seconds[0] = time.process_time()
        Batch(store, hierarchy, DelegateOptions(policy="hash"), lambda _: None, note).run(["seeds"], seeds)
    at_s = np.interp(np.linspace(0, sites, HUNDREDTHS + 1), written, seconds)
    memory = np.interp(np.linspace(0, sites, HUNDREDTHS + 1), written[1:], resident)
    return np.diff(at_s).tolist(), memory.astype(int).tolist()


def _write_bare(folder: Path, path: Path, schema: str) -> list[float]:
    """Write results and delegations of the batch into empty tables; return processor time of each part."""
    seconds: list[float] = []
    with Store.open(str(folder / "state.db")) as source, Store.open(str(path)) as target:
        raw = target.connection.raw
        raw.executescript(schema)
        columns = {table: _columns(raw, table) for table in ("results", "delegations")}
        after = dict.fromkeys(columns, -1)
        while True:
            parts = {table: _part(source, table, names, after) for table, names in columns.items()}
            if not any(parts.values()):
                return seconds
            start_s = time.process_time()
            raw.execute("BEGIN IMMEDIATE")
            for table, rows in parts.items():
                names = columns[table]
                marks = ", ".join("?" * len(names))
                raw.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)
            raw.execute("COMMIT")
            seconds.append(time.process_time() - start_s)


def _columns(raw: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in raw.execute(f"PRAGMA table_info({table})") if row[1] != "id"]


def _part(source: Store, table: str, names: list[str], after: dict[str, int]) -> list[tuple[Any, ...]]:
    """Read the next rows of a table."""
    sql = f"SELECT {', '.join(names)}, id FROM {table} WHERE id > ? ORDER BY id LIMIT {AT_ONCE}"
    rows = source.connection.raw.execute(sql, (after[table],)).fetchall()
    if rows:
        after[table] = rows[-1][-1]
    return [row[:-1] for row in rows]


if __name__ == "__main__":
    main(int(sys.argv[1]))
