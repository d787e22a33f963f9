"""Keep probe budgets: a probe is reserved before it is sent, so that a crash never spends it twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlite_utils import Database

from ipmicra.edge.store.connection import Connection, Row, Shape
from ipmicra.edge.store.keys import packed_or_none, unpacked_or_none
from ipmicra.edge.store.ports import BudgetState, OrderRecord
from ipmicra.edge.store.schema import make_table
from ipmicra.errors import InputError

_BUDGET = Shape("budgets", {"total": int | None, "spent": int})
_ORDER = Shape("orders", {"id": str, "crawler": str, "address": bytes | None, "reserved_s": float})


def create_budget(database: Database) -> None:
    """Make the tables of budgets and orders; an order without `answered_s` is unanswered."""
    budgets = {"name": str, "total": int, "spent": int}
    make_table(database, "budgets", budgets, key="name", needed=("spent",))
    orders = {
        "id": str,
        "budget": str,
        "crawler": str,
        "address": bytes,
        "reserved_s": float,
        "answered_s": float,
    }
    needed = ("budget", "crawler", "reserved_s")
    make_table(database, "orders", orders, key="id", needed=needed, index=("budget", "answered_s"))


class BudgetTable:
    """Budgets by name, and the orders that were paid from them."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self._connection = connection

    def open(self, name: str, total: int | None) -> BudgetState:
        """Open a budget; what was spent stays spent, the total is the new one."""
        if total is not None and total < 0:
            raise InputError(f"a probe budget of {total} is below zero")
        with self._connection.transaction():
            self._connection.execute("INSERT OR IGNORE INTO budgets VALUES (?, ?, 0)", (name, total))
            self._connection.execute("UPDATE budgets SET total = ? WHERE name = ?", (total, name))
            return self.state(name)

    def reserve(self, name: str, orders: Sequence[OrderRecord], at_s: float) -> int:
        """Reserve budget for as many of the orders as it allows, from the first on; return how many."""
        with self._connection.transaction():
            left = self.state(name).left
            granted = orders if left is None else orders[:left]
            self._connection.execute_many(
                "INSERT INTO orders (id, budget, crawler, address, reserved_s) VALUES (?, ?, ?, ?, ?)",
                [(order.id, name, order.crawler, packed_or_none(order.address), at_s) for order in granted],
            )
            self._spend(name, len(granted))
            return len(granted)

    def answer(self, ids: Iterable[str], at_s: float) -> None:
        """Note that orders were answered, or that their answers are lost for good."""
        self._connection.execute_many(
            "UPDATE orders SET answered_s = ? WHERE id = ?", [(at_s, one) for one in ids]
        )

    def release(self, name: str, ids: Iterable[str]) -> int:
        """Release what was reserved for orders that were certainly never sent; return how many."""
        sql = "DELETE FROM orders WHERE id = ? AND budget = ? AND answered_s IS NULL"
        with self._connection.transaction():
            gone = sum(self._connection.execute(sql, (one, name)) for one in ids)
            self._spend(name, -gone)
        return gone

    def unanswered(self, name: str) -> list[OrderRecord]:
        """Return the orders whose answers are missing, oldest first."""
        return self._orders(name, "IS NULL")

    def answered(self, name: str) -> list[OrderRecord]:
        """Return the orders that were answered, or whose answers are lost for good, oldest first."""
        return self._orders(name, "IS NOT NULL")

    def _orders(self, name: str, condition: str) -> list[OrderRecord]:
        rest = f"WHERE budget = ? AND answered_s {condition} ORDER BY rowid"
        return self._connection.read(_ORDER, _order_of, rest, (name,))

    def state(self, name: str) -> BudgetState:
        """Return how much of a budget is used."""
        found = self._connection.read_one(_BUDGET, _budget_of, "WHERE name = ?", (name,))
        if found is None:
            raise InputError(f"there is no probe budget named {name!r}")
        return found

    def _spend(self, name: str, probes: int) -> None:
        self._connection.execute("UPDATE budgets SET spent = spent + ? WHERE name = ?", (probes, name))


def _budget_of(row: Row) -> BudgetState:
    return BudgetState(total=row[0], spent=row[1])


def _order_of(row: Row) -> OrderRecord:
    return OrderRecord(id=row[0], crawler=row[1], address=unpacked_or_none(row[2]), reserved_s=row[3])
