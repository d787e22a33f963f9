"""Each promise of the security page names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
HEADS = ("| attack |", "| guarantee |")
ROWS = [row for head in HEADS for row in PAGE.split(head)[1].split("\n\n")[0].splitlines()[2:]]


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
