"""Looking up whole tables of Parquet by the command, beside a pass that only reads and writes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet

from benchmarks.addresses import hits4
from benchmarks.bench import SEED, Bench
from benchmarks.measure import children_time, peak_memory, side_by_side
from benchmarks.results import Row, Target, against, number_text, seconds_text
from ipmicra import Hierarchy
from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler

TARGET = Target(sense="≥", limit=0.8)
AT_ONCE = 1 << 20
ROUNDS = 3
"""Of small tables; a large one takes minutes."""
_OCTETS = pa.array([str(number) for number in range(256)])
_IDENTITY = Path(__file__).with_name("child_identity.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A command that adds columns to a table."""

    words: tuple[str, ...]
    added: int
    """Columns."""
    most_rows: int = 1 << 62
    """Rows above which it is not measured."""


VERBS = (
    Verb(words=("lookup",), added=6),
    Verb(words=("assign",), added=2, most_rows=10 * AT_ONCE),
)


def measure_tables(bench: Bench) -> list[Row]:
    """Let each command and the identity pass take turns, each in a process of its own."""
    home = bench.scratch.made("home-of-tables", partial(_make_home, bench.hierarchy("apnic")))
    return [
        _row(bench, home, verb, count)
        for verb in VERBS
        for count in bench.sizes.tables
        if count <= verb.most_rows
    ]


def _make_home(hierarchy: Path, folder: Path) -> None:
    """Make a home with four crawlers that have held nothing yet."""
    folder.mkdir(exist_ok=True)
    (folder / "hierarchy.ipm").hardlink_to(hierarchy)
    with Store.open(f"sqlite:///{folder / 'state.db'}") as store:
        for number, name in enumerate(("ath", "fra", "nyc", "sin")):
            place = Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}"))
            store.crawlers.put(Member(crawler=place))


def _row(bench: Bench, home: Path, verb: Verb, count: int) -> Row:
    hierarchy = home / "hierarchy.ipm"
    source = bench.scratch.made(f"table-{count}.parquet", partial(write_addresses, hierarchy, count))
    out, copy = (source.with_name(f"{name}-{count}.parquet") for name in ("out", "copy"))
    bench.say(f"{verb.words[0]} of a table of {count:,} rows")
    words = [sys.executable, "-m", "ipmicra", "--home", home, *verb.words, source, "-o", out]
    commands = {"ours": words, "identity": [sys.executable, _IDENTITY, out, copy, str(verb.added)]}
    peaks: dict[str, list[int]] = {name: [] for name in commands}
    actions = {
        name: lambda name=name: peaks[name].append(peak_memory(commands[name]).total_bytes)
        for name in commands
    }
    times = side_by_side(actions, ROUNDS if count <= AT_ONCE else 1, untimed=0, clock=children_time)
    size = out.stat().st_size
    out.unlink()
    copy.unlink()
    figures = [
        f"{seconds_text(times['ours'].median)} of CPU",
        f"identity {seconds_text(times['identity'].median)} of CPU",
        f"{number_text(size / 1e6)} MB written; peak memory {number_text(max(peaks['ours']) / 1e6)} MB",
        f"identity {number_text(max(peaks['identity']) / 1e6)} MB",
    ]
    what = (
        f"`ipmicra {' '.join(verb.words)} -o`, {count:,} rows, {verb.added} columns added, "
        "× an identity pass with equal columns"
    )
    return against(what, times["ours"], times["identity"], TARGET, figures)


def address_texts(addresses: NDArray[np.uint32]) -> pa.Array:
    """Write IPv4 addresses as texts."""
    parts = [_OCTETS.take(pa.array((addresses >> np.uint32(by)) & np.uint32(255))) for by in (24, 16, 8, 0)]
    return pc.binary_join_element_wise(*parts, ".")


def write_addresses(hierarchy_file: Path, count: int, path: Path) -> None:
    """Draw addresses, each subnet as likely as any other, which is the hardest case; with a number beside."""
    rng = np.random.default_rng(SEED)
    schema = pa.schema({"id": pa.int64(), "ip": pa.string()})
    with Hierarchy.open(hierarchy_file) as hierarchy, parquet.ParquetWriter(path, schema) as writer:
        bounds = hierarchy.bounds_array(4)
        for start in range(0, count, AT_ONCE):
            part = min(AT_ONCE, count - start)
            numbers = pa.array(np.arange(start, start + part))
            texts = address_texts(hits4(rng, bounds, part))
            writer.write_table(pa.table([numbers, texts], schema=schema), row_group_size=AT_ONCE)
