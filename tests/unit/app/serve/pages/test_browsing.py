"""The hierarchy level by level, compared with a look at every subnet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ipmicra.app.serve.pages.browsing import PAGE, registry_counts, registry_level, subnet_level
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.store import Store
from tests.cli.command_line import ROOT, ran


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hierarchy]:
    path = tmp_path_factory.mktemp("built") / "hierarchy.ipm"
    dumps = sorted(one for one in (ROOT / "rir_dumps" / "sample").iterdir() if one.suffix != ".md")
    done = ran("build", *dumps, "-o", path)
    assert path.exists(), done.stderr
    with Hierarchy.open(path) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "state.db")) as opened:
        yield opened


def slow_widest(hierarchy: Hierarchy, name: str) -> list[int]:
    """Rows of a registry whose parent is of another one."""
    return [
        row
        for row in range(len(hierarchy))
        if hierarchy.subnet(row).registry.label == name
        and (above := hierarchy.parent(row)) is not None
        and hierarchy.subnet(above).registry.label != name
    ]


def test_registries_have_their_widest_subnets(hierarchy: Hierarchy, store: Store) -> None:
    counts = registry_counts(hierarchy)
    assert {"ripe", "arin", "apnic", "lacnic", "afrinic"} <= {name for name, _ in counts}
    for name, count in counts:
        wanted = slow_widest(hierarchy, name)
        assert count == len(wanted)
        level = registry_level(store, hierarchy, name, 0)
        assert level is not None
        assert [line.subnet.row for line in level.lines] == wanted[:PAGE]


def test_pages_of_a_level_hold_every_child_once(hierarchy: Hierarchy, store: Store) -> None:
    widest = max(range(len(hierarchy)), key=lambda row: len(hierarchy.children(row)))
    seen: list[int] = []
    start: int | None = 0
    while start is not None:
        level = subnet_level(store, hierarchy, widest, start)
        assert level is not None
        seen += [line.subnet.row for line in level.lines]
        assert level.total == len(hierarchy.children(widest))
        start = level.next_start
    assert seen == hierarchy.children(widest).tolist()


@pytest.mark.parametrize("row", [-1, 1 << 40])
def test_row_that_does_not_exist_has_no_level(hierarchy: Hierarchy, store: Store, row: int) -> None:
    assert subnet_level(store, hierarchy, row, 0) is None
    assert registry_level(store, hierarchy, "nosuch", 0) is None
