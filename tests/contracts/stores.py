"""The stores that keep the contract; a new kind of store joins this table and runs every test of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.store import Store

STORES: dict[str, Callable[[Path], StorePort]] = {
    "sqlite file": lambda folder: Store.open(f"sqlite:///{folder}/state.db"),
    "sqlite memory": lambda _: Store.open("sqlite://"),
}
QUICK = ("sqlite memory",)
"""Those that open in milliseconds: laws open one for each example."""
