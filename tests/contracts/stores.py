"""The stores that keep the contract; a new kind of store joins this table and runs every test of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.ports import StorePort
from ipmicra.edge.store.store import Store

QUICKLY = ConnectionConfig(synchronous="OFF")


def open_store(kind: str, folder: Path, request: pytest.FixtureRequest) -> StorePort:
    """Open a new store of a kind."""
    return STORES[kind](folder, request)


STORES: dict[str, Callable[[Path, pytest.FixtureRequest], StorePort]] = {
    "sqlite file": lambda folder, _: Store.open(f"sqlite:///{folder}/state.db"),
    "sqlite memory": lambda *_: Store.open("sqlite://"),
    "postgresql": lambda _, request: Store.open(request.getfixturevalue("postgres").empty_store(), QUICKLY),
}
QUICK = ("sqlite memory", "postgresql")
"""Those that open in tens of milliseconds: laws open one for each example."""
