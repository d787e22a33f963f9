"""Each promise of the pages on security and reliability names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADS = {"security.md": ("| attack |", "| guarantee |"), "reliability.md": ("| promise |",)}
ROWS = [
    row
    for name, heads in HEADS.items()
    for head in heads
    for table in (ROOT / "docs" / name).read_text("utf-8").split(head)[1:]
    for row in table.split("\n\n")[0].splitlines()[2:]
]


def test_every_defence_names_a_test_that_exists() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(ROWS) > 25
    for row in ROWS:
        *_, held_by, _ = row.split(" |")
        named = re.findall(r"`(test_\w+)`", held_by)
        files = re.findall(r"`(tests/[\w/]+\.py)`", held_by)
        assert len(named) + len(files) == held_by.count("`") // 2 > 0, row
        assert [name for name in named if f"def {name}(" not in tests] == []
        assert [name for name in files if not (ROOT / name).is_file()] == []
