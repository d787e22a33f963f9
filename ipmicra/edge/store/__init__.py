"""Persistence: one SQLite file or one PostgreSQL database, safe to share between processes.

```python
from ipmicra.edge.store.store import Store

with Store.open("sqlite:///home/state.db") as store:  # or postgresql://…, a path, "sqlite://" for memory
    with store.transaction():  # all or nothing, one writer at a time; may be nested
        store.crawlers.put(member)
        store.samples.add_many(samples)
```

| part | keeps | calls |
|---|---|---|
| `meta` | words by key | `get(key)`, `set(key, value)` |
| `crawlers` | the fleet: crawlers, each with its own subnet | `put`, `get`, `all`, `set_state`, `history` |
| `sites` | sites with their pinned address | `put_many`, `get`, `all`, `at(address)`, `forget` |
| `samples` | every sample | `add_many`, `of(address, …)`, `latest`, `newest`, `after`, `count` |
| `names` | answers of the DNS until they expire | `get_many(names, now_s)`, `put_many`, `prune` |
| `budget` | orders, paid for | `open`, `reserve`, `answer`, `release`, `unanswered`, `answered`, `state` |
| `delegations` | who holds which subnet | `put_many`, `renew_many`, `end_many`, `get`, `all`, `history` |
| `batches` | commands that were begun | `begin`, `end`, `all` |
| `results` | decisions for the sites of a batch | `add_many`, `of(batch, hosts)`, `all`, `latest`, `count` |
| `track_records` | how far crawlers can be believed | `put_many`, `all`, `reject_many`, `rejected` |
| `grafts` | registrations asked for one by one | `put`, `all` |
| `assignments` | who crawls which site or piece | `put_many`, `all`, `of(host)` |
| `recrawls` | when sites or pieces were crawled and are due | `put_many`, `all`, `of(host)` |
| `subnet_trips` | the last round trips of subnets | `put_many`, `of(subnets)`, `newest`, `clear` |
| `tokens` | who may come in: hashes only | `add`, `all`, `find`, `revoke`, `use_many`, `mark` |
| `agents` | agents that call out | `put`, `get`, `all`, `saw_many`, `forget` |
| `states` | coordinates and overlays, by `to_bytes` | `get`, `put`, `forget` |
| `leases` | who may work on what, by number and for a time | `acquire`, `renew`, `check`, `release` |

`ports.py` has the same as Protocols, with the nouns they exchange. Addresses are BLOBs of 16 bytes, IPv4
as IPv4-mapped (`keys.py`): they sort and compare as numbers do. Every write is a transaction of its own
unless one is open.

A new concern is a `Table` (its columns, described once for both databases) and a class that takes the
`Connection`; the table in `tables.py`; a migration with the next number in `migrations.py`, whose docstring
shows how; a Protocol in `ports.py`; an attribute of `Store`; tests in `tests/contracts/`, which run on both
databases. SQL uses `?` and what both understand. Migrations that were published never change.
"""
