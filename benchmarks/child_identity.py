"""Read a table of Parquet and write it again, as `ipmicra lookup -o` does but for the look-up."""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa
from pyarrow import parquet

AT_ONCE, AHEAD = 1 << 20, 2


def main(source: str, target: str, added: str) -> None:
    """Copy a table; as there, memory is the C library's, and columns that were added have no statistics."""
    pa.set_memory_pool(pa.system_memory_pool())
    file = parquet.ParquetFile(source, buffer_size=1 << 22)
    schema = file.schema_arrow
    waiting: list[Future[None]] = []
    with (
        parquet.ParquetWriter(target, schema, write_statistics=schema.names[: -int(added)]) as writer,
        ThreadPoolExecutor(1) as pool,
    ):
        for batch in file.iter_batches(batch_size=AT_ONCE):
            waiting.append(pool.submit(writer.write_batch, batch, AT_ONCE))
            if len(waiting) > AHEAD:
                waiting.pop(0).result()
        for one in waiting:
            one.result()


if __name__ == "__main__":
    main(*sys.argv[1:])
