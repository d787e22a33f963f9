"""Looking up tables of Spark over Sail, beside `mapInArrow` that hands batches on as they are."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, against, number_text, seconds_text
from benchmarks.tables import write_addresses

TARGET = Target(sense="≥", limit=0.8)
NAMES = ("subnet", "country")
ROUNDS = 3
ENDINGS = ("counted", "written as Parquet")
"""What becomes of the rows: counting costs next to nothing, and what is written is what a job does."""
MOST_WRITTEN = 10_000_000


def measure_frames(bench: Bench) -> list[Row]:
    """Let both take turns in one session; all of it is in this process, whose time is taken."""
    if not find_spec("pysail"):
        return [
            Row(what="`with_subnets` × an identity `mapInArrow`: needs pip install '.[sail]'", target=TARGET)
        ]
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    try:
        return [
            _row(bench, session, count, ending)
            for count in bench.sizes.frames
            for ending in ENDINGS
            if ending == "counted" or count <= MOST_WRITTEN
        ]
    finally:
        session.stop()
        server.stop()


def _row(bench: Bench, session: Any, count: int, ending: str) -> Row:  # noqa: ANN401 - of pyspark
    from ipmicra.spark import with_subnets

    hierarchy = bench.hierarchy("apnic")
    source = bench.scratch.made(f"table-{count}.parquet", partial(write_addresses, hierarchy, count))
    bench.say(f"looking up {count:,} rows in Spark, {ending}")
    frame = session.read.parquet(str(source))
    ours = with_subnets(frame, "ip", hierarchy=hierarchy, columns=NAMES)
    same = frame.mapInArrow(handed_on, "id long, ip string, subnet string, country string")
    end = partial(_counted if ending == "counted" else _written, bench.scratch.place("frames"))
    actions = {"ours": partial(end, ours), "identity": partial(end, same)}
    is_small = count <= 1_000_000
    times = side_by_side(actions, ROUNDS if is_small else 1, untimed=int(is_small), clock=time.process_time)
    per_row = {name: number_text(one.median / count * 1e9) for name, one in times.items()}
    figures = [
        f"{seconds_text(times['ours'].median)} of CPU, {per_row['ours']} ns per row",
        f"identity {seconds_text(times['identity'].median)}, {per_row['identity']} ns per row",
    ]
    what = f"`with_subnets`, {count:,} rows, two columns, {ending}, × an identity `mapInArrow`, over Sail"
    return against(what, times["ours"], times["identity"], TARGET, figures)


def _counted(_place: Path, frame: Any) -> None:  # noqa: ANN401 - of pyspark
    """Make all rows and count the texts, so that no column is left out."""
    from pyspark.sql import functions as f

    frame.select(f.sum(f.length("subnet")), f.count("country")).collect()


def _written(place: Path, frame: Any) -> None:  # noqa: ANN401 - of pyspark
    """Write all rows as Parquet."""
    frame.write.mode("overwrite").parquet(str(place))
    shutil.rmtree(place)


def handed_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Hand batches on; the address stands in for the columns that a look-up adds."""
    for batch in batches:
        columns = [*batch.columns, batch.column("ip"), batch.column("ip")]
        yield pa.RecordBatch.from_arrays(columns, ["id", "ip", "subnet", "country"])
