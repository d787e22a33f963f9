"""`ipmicra assign FILE.parquet -o OUT.parquet`: owners of a whole table of hosts, without a probe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ipmicra.app.assign.subnets import HostCounts, SubnetPlan, balanced_plan, delegated_plan
from ipmicra.app.tables import TableReport, TableRequest, Watch, extend_with
from ipmicra.edge.columnar.addresses import read_addresses
from ipmicra.edge.columnar.choice import HOST_NAMES, ColumnChoice, choose_addresses
from ipmicra.edge.columnar.owners import NOBODY
from ipmicra.edge.columnar.parquet import ParquetTable, batches_of, open_file, open_table
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.ports import StorePort

SOURCES = ("assignment", "delegation", "balance")
"""What makes a crawler the owner of a host."""
_TEXT = pa.dictionary(pa.int32(), pa.string())


def assign_table(
    store: StorePort, hierarchy: Hierarchy, request: TableRequest, watch: Watch
) -> tuple[TableReport, dict[str, int]]:
    """Write a table with the owner of each host; return also the hosts of each crawler.

    Nothing is stored: owners of subnets follow from what the store knows, and assigned hosts stay.
    """
    table = open_table(request.source)
    choice = choose_addresses(table.schema, request.column, request.prefix)
    owning = Owning(hierarchy, delegated_plan(store), choice, _host_column(table.schema), _assigned(store))
    counts = _counted(table, owning)
    owning.plan = balanced_plan(store, hierarchy, owning.plan, counts)
    owning.held = np.zeros(len(owning.plan.crawlers), np.int64)
    report = extend_with(request, table, choice, owning, watch)
    return report, dict(zip(owning.plan.crawlers, owning.held.tolist(), strict=True))


def _host_column(schema: pa.Schema) -> str | None:
    """Return the column of host names, if one is called so."""
    names = {one.name.lower(): one.name for one in schema if pa.types.is_string(one.type)}
    return next((names[name] for name in HOST_NAMES if name in names), None)


def _assigned(store: StorePort) -> dict[str, str]:
    """Return the crawler of each host that is assigned whole and from one vantage."""
    if not store.assignments.loads().by_crawler:
        return {}
    return {
        one.host: one.crawler
        for one in store.assignments.all()
        if one.crawler is not None and one.of == 1 and not one.vantage
    }


def _counted(table: ParquetTable, owning: Owning) -> HostCounts:
    """Count the hosts of a table by owner, or by subnet where there is none."""
    counts = HostCounts.none(owning.plan, owning.hierarchy)
    columns = [owning.choice.name, *([owning.host_column] if owning.host_column else [])]
    for path in table.files:
        with open_file(path) as file:
            for batch in batches_of(file, columns):
                owners, rows, is_known, _ = owning.owners(batch)
                counts.add(owners[is_known], rows[is_known])
    return counts


@dataclass(slots=True)
class Owning:
    """Adds the owner of each host, and what makes it so."""

    hierarchy: Hierarchy
    plan: SubnetPlan
    choice: ColumnChoice
    host_column: str | None
    assigned: dict[str, str]
    missing: int = 0
    """Rows without an address so far."""
    held: NDArray[np.int64] | None = None
    """Hosts of each crawler."""

    @property
    def fields(self) -> list[pa.Field]:
        """Names and types of the columns it adds."""
        return self.choice.named([pa.field("crawler", _TEXT), pa.field("source", _TEXT)])

    def owners(
        self, batch: pa.RecordBatch
    ) -> tuple[NDArray[np.int32], NDArray[np.uint32], NDArray[np.bool_], NDArray[np.int32]]:
        """Return the owner of each host, the row of its address, whether it has one, and the source."""
        words, is_known = read_addresses(self.choice.of(batch))
        rows = self.hierarchy.lookup_many(words)
        delegated = self.plan.ranges.of(words)
        owners = self.plan.owners(delegated, rows)
        source = np.where(delegated == NOBODY, 2, 1).astype(np.int32)
        if self.assigned and self.host_column is not None and self.host_column in batch.schema.names:
            own = self._by_host(batch.column(self.host_column))
            owners, source = np.where(own >= 0, own, owners), np.where(own >= 0, 0, source)
            is_known = is_known | (own >= 0)
        return owners, rows, is_known, source

    def _by_host(self, hosts: pa.Array) -> NDArray[np.int32]:
        numbers = {name: number for number, name in enumerate(self.plan.crawlers)}
        crawler_of: Callable[[str], str | None] = partial(self.assigned.get)
        return np.array([numbers.get(crawler_of(one) or "", NOBODY) for one in hosts.to_pylist()], np.int32)

    def columns(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of a batch."""
        owners, _, is_known, source = self.owners(batch)
        self.missing += int(np.count_nonzero(~is_known))
        nobody = (owners == NOBODY) | ~is_known
        if self.held is not None:
            self.held += np.bincount(owners[~nobody], minlength=len(self.held))
        return [
            pa.DictionaryArray.from_arrays(pa.array(codes, mask=nobody), pa.array(names))
            for codes, names in ((owners, self.plan.crawlers), (source, SOURCES))
        ]
