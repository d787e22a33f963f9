"""Texts that were seen, in a file: the same answers as a set, in memory that does not grow."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge import fingerprint_file
from ipmicra.edge.fingerprint_file import FingerprintFile
from ipmicra.errors import IpmicraError


@pytest.fixture
def seen() -> Iterator[FingerprintFile]:
    made = FingerprintFile(4)
    yield made
    made.close()


@given(st.lists(st.text(alphabet="abc", max_size=4)), st.sampled_from([8, 24, 1 << 20]))
def test_file_answers_as_a_set_does(texts: list[str], block: int) -> None:
    """Whatever is read at a time when the table is doubled."""
    found, expected = FingerprintFile(1), set[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint_file, "_BLOCK", block)
        for text in texts:
            assert found.add(text) == (text not in expected)
            expected.add(text)
    assert len(found) == len(expected)
    found.close()


@given(st.lists(st.lists(st.text(alphabet="abc", max_size=3))), st.sampled_from([0, 1 << 24]))
def test_many_texts_at_a_time_are_added_as_one_by_one(parts: list[list[str]], resident: int) -> None:
    """Whether pages are given back after each part or never."""
    found, expected = FingerprintFile(1), FingerprintFile(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint_file, "_RESIDENT", resident)
        for part in parts:
            assert found.add_many(part) == [expected.add(text) for text in part]
    assert len(found) == len(expected)
    found.close()
    expected.close()


def test_numbers_that_crowd_the_last_slots_go_on_in_the_first(
    seen: FingerprintFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = (1 << 64) - 1
    monkeypatch.setattr(fingerprint_file, "fingerprint", lambda text: top - int(text))
    assert all(seen.add(str(i)) for i in range(100))
    assert not any(seen.add(str(i)) for i in range(100))


def test_memory_does_not_grow_with_the_texts() -> None:
    found = FingerprintFile(16)
    for i in range(38_000):
        found.add(str(i))
    tracemalloc.start()  # makes everything slow
    for i in range(38_000, 50_000):  # doubles the table at 39,322
        found.add(str(i))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 50_000
    assert kept < 20_000
    found.close()


def test_missing_room_is_reported_with_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.pwrite", full)
    with pytest.raises(IpmicraError, match="No space left on device; make room"):
        FingerprintFile(4)
