"""Addresses and prefixes for look-ups beside peers."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import numpy as np
import pytest

from benchmarks.addresses import Case, drawn, texts
from benchmarks.peers import all_prefixes, check_agreement, filled_pytricia, prefixes_of
from benchmarks.ranges_dump import write_ranges
from ipmicra import Hierarchy, build

COUNT4, COUNT6 = 300, 100


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hierarchy]:
    folder: Path = tmp_path_factory.mktemp("ranges")
    write_ranges(folder / "ranges.db", COUNT4, COUNT6, seed=1)
    build([folder / "ranges.db"], folder / "ranges.ipm")
    with Hierarchy.open(folder / "ranges.ipm") as opened:
        yield opened


def test_every_written_range_is_a_subnet(hierarchy: Hierarchy) -> None:
    assert len(hierarchy) == COUNT4 + COUNT6 + 2
    assert hierarchy.meta["tally"]["kept"] == COUNT4 + COUNT6


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize(("kind", "is_found"), [("hit", True), ("hit, sorted", True), ("miss", False)])
def test_addresses_hit_or_miss_as_asked(hierarchy: Hierarchy, family: int, kind: str, is_found: bool) -> None:
    asked = drawn(np.random.default_rng(1), hierarchy, Case(family=family, kind=kind), 500)
    depths = {hierarchy.lookup(text).depth > 0 for text in texts(asked)}
    assert len(asked) == 500
    assert depths == {is_found}


def test_a_range_is_split_into_the_fewest_prefixes() -> None:
    start = int(ip_network("10.0.0.0/32").network_address)
    assert prefixes_of(start, start + 5) == ["10.0.0.0/30", "10.0.0.4/31"]
    assert prefixes_of(start, start + 255) == ["10.0.0.0/24"]
    assert prefixes_of(0, (1 << 32) - 1) == ["0.0.0.0/0"]


def test_a_peer_filled_with_the_same_subnets_gives_the_same_rows(hierarchy: Hierarchy) -> None:
    table = filled_pytricia(hierarchy.bounds_array(4))
    rng = np.random.default_rng(2)
    for kind in ("hit", "miss", "anywhere"):
        asked = texts(drawn(rng, hierarchy, Case(family=4, kind=kind), 500))
        expected = [hierarchy.row_of(text) for text in asked]
        check_agreement("pytricia", expected, [table.get(text) for text in asked], asked)


def test_a_peer_with_other_rows_is_found_out() -> None:
    with pytest.raises(RuntimeError, match=r"10\.0\.0\.1: radix finds row None, ipmicra row 3"):
        check_agreement("radix", [3], [None], ["10.0.0.1"])


def test_prefixes_leave_out_the_root() -> None:
    bounds = np.array([[0, 0xFFFFFFFF], [256, 511]], np.uint32)
    assert list(all_prefixes(bounds)) == [("0.0.1.0/24", 1)]
