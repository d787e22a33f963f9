"""Open a store and reach its tables."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from ipmicra.edge.store.assignments import AssignmentTable
from ipmicra.edge.store.batches import BatchTable, ResultTable
from ipmicra.edge.store.connection import Connection, ConnectionConfig
from ipmicra.edge.store.crawlers import CrawlerTable
from ipmicra.edge.store.delegations import DelegationTable
from ipmicra.edge.store.grafts import GraftTable
from ipmicra.edge.store.leases import LeaseTable
from ipmicra.edge.store.meta import COPY_MARK, MetaTable
from ipmicra.edge.store.migrations import migrate
from ipmicra.edge.store.names import NameTable
from ipmicra.edge.store.places import connect
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.probes import BudgetTable, SampleTable, TrackRecordTable
from ipmicra.edge.store.recrawls import RecrawlTable
from ipmicra.edge.store.sites import SiteTable
from ipmicra.edge.store.states import StateTable
from ipmicra.edge.store.subnet_trips import SubnetTripsTable
from ipmicra.edge.store.tokens import AgentTable, TokenTable
from ipmicra.edge.store.views import SiteAnswerTable, ViewTable
from ipmicra.errors import StoreError

T = TypeVar("T")


class Store(StorePort):
    """Everything ipmicra remembers, in SQLite or PostgreSQL; a store belongs to the thread that opened it."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection whose schema is up to date."""
        self.connection = connection
        self.transaction = connection.transaction
        self.meta = MetaTable(connection)
        self.crawlers = CrawlerTable(connection)
        self.sites = SiteTable(connection)
        self.samples = SampleTable(connection)
        self.names = NameTable(connection)
        self.views = ViewTable(connection)
        self.site_answers = SiteAnswerTable(connection)
        self.budget = BudgetTable(connection)
        self.delegations = DelegationTable(connection)
        self.batches = BatchTable(connection)
        self.results = ResultTable(connection)
        self.track_records = TrackRecordTable(connection)
        self.grafts = GraftTable(connection)
        self.assignments = AssignmentTable(connection)
        self.states = StateTable(connection)
        self.recrawls = RecrawlTable(connection)
        self.subnet_trips = SubnetTripsTable(connection)
        self.tokens = TokenTable(connection)
        self.agents = AgentTable(connection)
        self.leases = LeaseTable(connection)

    @classmethod
    def open(cls, url: str, config: ConnectionConfig | None = None, *, is_copied_into: bool = False) -> Self:
        """Open a store, made if it is missing: a path or a URL (`places.py`).

        One that a copy left unfinished is refused, but for those that copy into it.
        """
        connection = connect(url, config or ConnectionConfig())
        try:
            migrate(connection)
            connection.begin_marking()
            if not is_copied_into:
                _refuse_unfinished(connection)
        except BaseException:
            connection.close()
            raise
        return cls(connection)

    def repeated(self, work: Callable[[], T]) -> T:
        """Do work in a transaction; again if the database undid it for reasons that pass.

        So the work must change nothing but the store.
        """
        return self.connection.repeated(work)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def __enter__(self) -> Self:
        """Use as a context."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Name the file or database."""
        return f"<Store {self.connection.path}>"


def _refuse_unfinished(connection: Connection) -> None:
    source = MetaTable(connection).get(COPY_MARK)
    if source is not None:
        raise StoreError(
            connection.path, f"a copy into it was not finished: run `ipmicra store copy {source} …` again"
        )
