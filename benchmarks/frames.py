"""Looking up tables of Spark over Sail, beside `mapInArrow` that hands batches on as they are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import side_by_side
from benchmarks.results import Row, Target, against, number_text, seconds_text
from benchmarks.tables import write_addresses

TARGET = Target(sense="≥", limit=0.8)
NAMES = ("subnet", "country")
ROUNDS = 3


def measure_frames(bench: Bench) -> list[Row]:
    """Let both take turns in one session; what they make is counted, and nothing is written."""
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
        return [_row(bench, session, count) for count in bench.sizes.frames]
    finally:
        session.stop()
        server.stop()


def _row(bench: Bench, session: Any, count: int) -> Row:  # noqa: ANN401 - of pyspark
    from ipmicra.spark import with_subnets

    hierarchy = bench.hierarchy("apnic")
    source = bench.scratch.made(f"table-{count}.parquet", partial(write_addresses, hierarchy, count))
    bench.say(f"looking up {count:,} rows in Spark")
    frame = session.read.parquet(str(source))
    ours = with_subnets(frame, "ip", hierarchy=hierarchy, columns=NAMES)
    same = frame.mapInArrow(handed_on, "id long, ip string, subnet string, country string")
    actions = {"ours": partial(_made, ours), "identity": partial(_made, same)}
    times = side_by_side(actions, ROUNDS if count <= 10_000_000 else 1, untimed=int(count <= 10_000_000))
    per_row = times["ours"].median / count * 1e9
    figures = [
        f"{seconds_text(times['ours'].median)}, {number_text(per_row)} ns per row",
        f"identity {seconds_text(times['identity'].median)}",
    ]
    what = f"`with_subnets`, {count:,} rows, two columns, × an identity `mapInArrow`, over Sail"
    return against(what, times["ours"], times["identity"], TARGET, figures)


def _made(frame: Any) -> int:  # noqa: ANN401 - of pyspark
    """Make all rows and count the texts, so that no column is left out."""
    from pyspark.sql import functions as f

    return int(frame.select(f.sum(f.length("subnet")), f.count("country")).collect()[0][1])


def handed_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Hand batches on; the address stands in for the columns that a look-up adds."""
    for batch in batches:
        columns = [*batch.columns, batch.column("ip"), batch.column("ip")]
        yield pa.RecordBatch.from_arrays(columns, ["id", "ip", "subnet", "country"])
