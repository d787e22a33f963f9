"""Subnets and owners of tables of Spark, beyond what one machine holds.

Theory of operation
-------------------
Everything is `mapInArrow` over the look-up that is used everywhere else, and joins and aggregations of
Spark's own. The driver reads the store and makes the plan (`app/assign/subnets.py`); workers get the plan
with their task and the hierarchy as a file (`addFile`, or an artifact with Spark Connect). Where files cannot
be sent, workers open the same path, so that it must be on a disk that all of them see.

This is for tables that are in Spark already; one machine with Parquet is quicker (docs/scale.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ipmicra.app.assign.subnets import HostCounts, SubnetPlan, balanced_plan, delegated_plan
from ipmicra.app.home import Home
from ipmicra.edge.columnar.subnets import SUBNET_COLUMNS, SubnetColumns
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.spark.workers import CountTask, LabelTask, LookupTask, OwnTask
from ipmicra.edge.store.ports import StorePort
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COUNTS = "row long, hosts long"


def with_subnets(
    frame: DataFrame,
    column: str = "ip",
    *,
    hierarchy: str | Path,
    columns: Sequence[str] = SUBNET_COLUMNS,
) -> DataFrame:
    """Add the narrowest subnet of each address, and what is registered of it.

    Addresses are texts, 4 or 16 bytes, or IPv4 addresses as numbers; where there is none, columns are null.
    """
    names, path = tuple(columns), _sent(frame, hierarchy)
    with Hierarchy.open(path) as opened:
        SubnetColumns(opened, names)  # refuses unknown columns here, and not in a worker
    schema = _schema(frame, column, names)
    return frame.mapInArrow(LookupTask(path, column, names), schema)


def group_by_subnet(frame: DataFrame, column: str = "ip", *, hierarchy: str | Path) -> DataFrame:
    """Count the rows of each narrowest subnet: columns `subnet` and `hosts`.

    Batches are counted where they are, so that few rows are shuffled.
    """
    _check(frame, column)
    path = _sent(frame, hierarchy)
    counts = _counted(frame, CountTask(path, column), column)
    return counts.mapInArrow(LabelTask(path), "subnet string, hosts long")


def with_owners(frame: DataFrame, host: str = "host", *, home: str | Path, address: str = "ip") -> DataFrame:
    """Add the crawler that owns each host, and why: `crawler` and `source`.

    By its stored assignment, else by the delegation of its subnet, else by balancing subnets on stored
    samples, coordinates and places. Nobody is probed, and nothing is stored. `address` names the column of
    addresses; the home folder has the store and the hierarchy.
    """
    _check(frame, host)
    where = Home(folder=Path(home))
    path = _sent(frame, where.hierarchy)
    with where.open_store() as store, where.open_hierarchy() as hierarchy:
        plan = delegated_plan(store)
        found = _counted(frame.select(address), CountTask(path, address, plan.ranges), address).toArrow()
        plan = balanced_plan(store, hierarchy, plan, _counts_of(plan, hierarchy, found))
        assigned = _assigned(store)
    names = "crawler", "source"
    schema = _schema(frame, address, names)
    owned = frame.mapInArrow(OwnTask(path, address, names, plan.crawlers, plan.ranges, plan.balanced), schema)
    return _joined(owned, host, assigned) if assigned else owned


def _counts_of(plan: SubnetPlan, hierarchy: Hierarchy, found: Any) -> HostCounts:  # noqa: ANN401
    """Read what workers counted."""
    counts = HostCounts.none(plan, hierarchy)
    rows, hosts = (np.asarray(found.column(name)).astype(np.int64) for name in ("row", "hosts"))
    is_owner = rows < 0
    counts.held[-1 - rows[is_owner]] += hosts[is_owner]
    counts.undecided[rows[~is_owner]] += hosts[~is_owner]
    return counts


def _assigned(store: StorePort) -> list[tuple[str, str]]:
    """Return the hosts that are assigned whole and from one vantage, with their crawlers."""
    return [
        (one.host, one.crawler)
        for one in store.assignments.all()
        if one.crawler is not None and one.of == 1 and not one.vantage
    ]


def _joined(frame: DataFrame, host: str, assigned: list[tuple[str, str]]) -> DataFrame:
    """Let assignments come before everything else."""
    from pyspark.sql import functions as f

    known = frame.sparkSession.createDataFrame(assigned, "ipmicra_host string, ipmicra_crawler string")
    both = frame.join(known, frame[host] == known["ipmicra_host"], "left")
    is_assigned = f.col("ipmicra_crawler").isNotNull()
    return (
        both.withColumn("crawler", f.coalesce("ipmicra_crawler", "crawler"))
        .withColumn("source", f.when(is_assigned, f.lit("assignment")).otherwise(f.col("source")))
        .drop("ipmicra_host", "ipmicra_crawler")
    )


def _counted(frame: DataFrame, task: CountTask, column: str) -> DataFrame:
    counts = frame.select(column).mapInArrow(task, _COUNTS)
    return counts.groupBy("row").agg({"hosts": "sum"}).withColumnRenamed("sum(hosts)", "hosts")


def _check(frame: DataFrame, column: str) -> None:
    if column not in frame.columns:
        raise InputError(f"there is no column {column}: there are {', '.join(frame.columns)}")


def _schema(frame: DataFrame, column: str, names: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the schema of a frame with columns of text behind it."""
    from pyspark.sql.types import StringType, StructField, StructType

    _check(frame, column)
    twice = [name for name in names if name in frame.columns]
    if twice:
        raise InputError(f"the table has a column {', '.join(twice)} already: rename it first")
    return StructType([*frame.schema.fields, *(StructField(name, StringType()) for name in names)])


def _sent(frame: DataFrame, hierarchy: str | Path) -> str:
    """Send a hierarchy to the workers, if the session can; return its path."""
    path = Path(hierarchy).resolve()
    Hierarchy.open(path).close()
    session = frame.sparkSession
    if type(session).__module__.startswith("pyspark.sql.connect"):
        from pyspark.errors import PySparkException

        # It was sent before, or the session sends no files: then all workers must see the path.
        with suppress(PySparkException, NotImplementedError, ValueError):
            session.addArtifacts(str(path), file=True)
    else:
        session.sparkContext.addFile(str(path))
    return str(path)
