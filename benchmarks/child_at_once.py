"""Delegate addresses by their hash, then write the same rows with a bare `executemany`; print both as JSON.

Run by `benchmarks.keeping`, in a process of its own because memory is measured. The bare rows go into tables
of the same schema, in the order in which the batch wrote them, so many of each at a time.
"""

from __future__ import annotations

import itertools
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path

from benchmarks.child_delegate import UNIT_BYTES
from ipmicra.app.build.build import build
from ipmicra.app.delegate.batch import Batch
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler

CRAWLERS = 12
DUMP = "inetnum: 203.0.113.0 - 203.0.113.255\nnetname: N\ncountry: GR\nsource: RIPE\n\n"
AT_ONCE = 10_000
PAGE = resource.getpagesize()


def main(sites: int) -> None:
    """Measure tenths of the batch, its memory after the first three of them and at its end, and the rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.db").write_text(DUMP)
        build([folder / "a.db"], folder / "a.ipm")
        seconds, resident = _delegate(folder, sites)
        rows_s = _write_bare(folder)
    tenth = len(seconds) // 10
    told = {
        "sites_per_s": sites / sum(seconds),
        "bare_per_s": sites / rows_s,
        "first_tenth_s": sum(seconds[:tenth]),
        "last_tenth_s": sum(seconds[-tenth:]),
        "grown_bytes": resident[-1] - resident[3 * tenth],
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT_BYTES,
    }
    print(json.dumps(told))


def _delegate(folder: Path, sites: int) -> tuple[list[float], list[int]]:
    """Run the batch; return processor time and resident memory of each hundredth, by seeds read."""
    seconds, resident, step = [time.process_time()], [], sites // 100

    def seeds() -> Iterator[str]:
        for i, number in enumerate(random.Random(1).sample(range(1 << 24, 223 << 24), sites), 1):
            yield str(IPv4Address(number))
            if i % step == 0:
                seconds.append(time.process_time())
                resident.append(int(Path("/proc/self/statm").read_text().split()[1]) * PAGE)

    with Hierarchy.open(folder / "a.ipm") as hierarchy, Store.open(str(folder / "state.db")) as store:
        for i in range(CRAWLERS):
            store.crawlers.put(Member(crawler=Crawler(name=f"c{i}", address=IPv4Address(f"198.51.99.{i}"))))
        Batch(store, hierarchy, DelegateOptions(policy="hash"), lambda _: None).run(["seeds"], seeds())
    seconds[-1] = time.process_time()
    return [end - start for start, end in itertools.pairwise(seconds)], resident


def _write_bare(folder: Path) -> float:
    """Write results and delegations of the batch into an empty store; return the processor time."""
    with Store.open(str(folder / "state.db")) as store:
        results = store.connection.raw.execute("SELECT * FROM results ORDER BY rowid").fetchall()
        found = {row[:2]: row for row in store.connection.raw.execute("SELECT * FROM delegations")}
    delegations = [found[row[3], row[4]] for row in results]
    with Store.open(str(folder / "bare.db")) as store:
        raw, start_s = store.connection.raw, time.process_time()
        for i in range(0, len(results), AT_ONCE):
            raw.execute("BEGIN IMMEDIATE")
            for table, rows in (("results", results), ("delegations", delegations)):
                marks = ", ".join("?" * len(rows[0]))
                raw.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[i : i + AT_ONCE])
            raw.execute("COMMIT")
        return time.process_time() - start_s


if __name__ == "__main__":
    main(int(sys.argv[1]))
