"""Open a store and reach its tables."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from ipmicra.edge.store.assignments import AssignmentTable
from ipmicra.edge.store.batches import BatchTable, ResultTable
from ipmicra.edge.store.connection import Connection, ConnectionConfig, make_folder, path_of
from ipmicra.edge.store.crawlers import CrawlerTable
from ipmicra.edge.store.delegations import DelegationTable
from ipmicra.edge.store.grafts import GraftTable
from ipmicra.edge.store.meta import MetaTable
from ipmicra.edge.store.migrations import migrate
from ipmicra.edge.store.names import NameTable
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.probes import BudgetTable, SampleTable, TrackRecordTable
from ipmicra.edge.store.recrawls import RecrawlTable
from ipmicra.edge.store.sites import SiteTable
from ipmicra.edge.store.states import StateTable
from ipmicra.edge.store.subnet_trips import SubnetTripsTable
from ipmicra.edge.store.tokens import AgentTable, TokenTable
from ipmicra.edge.store.views import SiteAnswerTable, ViewTable


class Store(StorePort):
    """Everything ipmicra remembers, in one SQLite file; a store belongs to the thread that opened it."""

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

    @classmethod
    def open(cls, url: str, config: ConnectionConfig | None = None) -> Self:
        """Open a store, made if it is missing: `sqlite:///a.db`, a path, or `sqlite://` for memory."""
        path = path_of(url)
        make_folder(path)
        connection = Connection(path, config or ConnectionConfig())
        try:
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return cls(connection)

    def close(self) -> None:
        """Close the file."""
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
        """Name the file."""
        return f"<Store {self.connection.path}>"
