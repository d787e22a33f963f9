"""Whole text files: as they are, up to a limit, and with no more memory than they need."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ipmicra.edge.files.lines import read_text


@pytest.mark.parametrize("most", [None, 0, 1, 70_000, 200_000, 300_001])
def test_text_is_read_as_it_is_up_to_the_limit(tmp_path: Path, most: int | None) -> None:
    text = "η,é\r\n" * 60_000
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert read_text(tmp_path / "a.txt", most) == text[:most]


def test_small_file_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a.org\n")
    tracemalloc.start()
    try:
        assert read_text(tmp_path / "a.txt") == "a.org\n"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
