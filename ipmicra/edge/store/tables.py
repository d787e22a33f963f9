"""List all tables of the store: their one description, for both databases."""

from __future__ import annotations

from ipmicra.edge.store.assignment_loads import CRAWLER_LOADS, PAGE_COUNTS
from ipmicra.edge.store.assignments import ASSIGNMENTS, LOST_ASSIGNMENTS
from ipmicra.edge.store.batches import BATCHES, RESULTS
from ipmicra.edge.store.counters import COUNTERS
from ipmicra.edge.store.crawlers import CRAWLER_HISTORY, CRAWLERS
from ipmicra.edge.store.delegations import DELEGATION_HISTORY, DELEGATIONS
from ipmicra.edge.store.grafts import GRAFTS
from ipmicra.edge.store.leases import LEASES
from ipmicra.edge.store.meta import META, MIGRATION_TABLE
from ipmicra.edge.store.names import NAMES
from ipmicra.edge.store.probes import BUDGETS, MARKS, ORDERS, SAMPLES, TRACK_RECORDS
from ipmicra.edge.store.recrawls import RECRAWLS
from ipmicra.edge.store.sites import SITES
from ipmicra.edge.store.states import STATES
from ipmicra.edge.store.subnet_trips import SUBNET_TRIPS
from ipmicra.edge.store.tokens import AGENTS, TOKENS
from ipmicra.edge.store.views import SITE_ANSWERS, VIEWS

TABLES = (
    MIGRATION_TABLE,
    META,
    CRAWLERS,
    CRAWLER_HISTORY,
    SITES,
    SAMPLES,
    NAMES,
    VIEWS,
    SITE_ANSWERS,
    BUDGETS,
    ORDERS,
    DELEGATIONS,
    DELEGATION_HISTORY,
    BATCHES,
    RESULTS,
    TRACK_RECORDS,
    MARKS,
    GRAFTS,
    ASSIGNMENTS,
    LOST_ASSIGNMENTS,
    COUNTERS,
    CRAWLER_LOADS,
    PAGE_COUNTS,
    STATES,
    RECRAWLS,
    SUBNET_TRIPS,
    TOKENS,
    AGENTS,
    LEASES,
)
