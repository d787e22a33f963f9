"""Fixtures of the contracts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.edge.store.ports import StorePort
from tests.contracts.stores import STORES


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    made = STORES[request.param](tmp_path)
    yield made
    made.close()
