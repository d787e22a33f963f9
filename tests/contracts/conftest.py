"""Fixtures of the contracts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.edge.store.ports import StorePort
from tests.contracts.stores import STORES, open_store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    made = open_store(request.param, tmp_path, request)
    yield made
    made.close()
