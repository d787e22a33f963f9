"""The journal of a node: what was not said is there after a crash, in order, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.scrapy import journal as module
from ipmicra.edge.scrapy.journal import FILE, Journal
from ipmicra.errors import StoreError
from ipmicra.model.link import Link
from ipmicra.partition.exchange.exchange import Entry, Fetched

BITS = 1 << 63
texts = st.text(max_size=8)
entries = st.one_of(
    st.integers(1, BITS - 1),
    st.integers(-BITS, BITS - 1).map(Fetched),
    st.builds(Link, url=texts, host=texts, depth=st.integers(0, 9), key=st.integers(1, 9), extra=texts),
)
steps = st.lists(st.lists(entries, max_size=4) | st.integers(0, 5), max_size=12)


@given(steps=steps, cut=st.integers(0, 30), most=st.sampled_from([0, 60, 10_000]))
def test_what_is_left_comes_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[Entry] | int], cut: int, most: int
) -> None:
    """A plain list is the twin; a crash in the middle of a line costs that line and nothing before it."""
    folder = tmp_path_factory.mktemp("job")
    twin: list[Entry] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_BYTES", most)
        one = Journal(folder)
        for step in steps:
            if isinstance(step, list):
                one.append(step)
                twin += step
            else:
                count = min(step, len(twin))
                one.drop(count)
                del twin[:count]
        one.close()
        with (folder / FILE).open("ab") as file:
            file.write(b'["http://a.example/","a.example",0,0,7,"x"]'[:cut])
        again = Journal(folder)
        assert again.entries() == twin
        again.append([1])
        assert again.entries() == [*twin, 1]
        again.close()


def test_run_is_remembered(tmp_path: Path) -> None:
    one = Journal(tmp_path)
    assert one.run is None
    one.run = 7
    one.close()
    again = Journal(tmp_path)
    assert again.run == 7
    again.close()


def test_without_a_folder_nothing_is_kept() -> None:
    one = Journal(None)
    one.append([1])
    one.drop(1)
    assert one.entries() == []


@pytest.mark.parametrize(("damaged", "left"), [(b"\n4\n", [1, 2]), (b"\n5\n", [1, 2, 3, 4])])
def test_reading_stops_where_the_journal_is_damaged(tmp_path: Path, damaged: bytes, left: list[int]) -> None:
    """Zeros, as a power cut leaves them in place of what was not written yet."""
    one = Journal(tmp_path)
    for batch in ([1, 2], [3, 4], [5]):
        one.append(batch)
    one.close()
    data = bytearray((tmp_path / FILE).read_bytes())
    data[data.index(damaged) + 1] = 0
    (tmp_path / FILE).write_bytes(data)
    again = Journal(tmp_path)
    assert again.entries() == left
    again.close()


def test_what_stood_there_before_the_file_began_anew_is_not_read(tmp_path: Path) -> None:
    one = Journal(tmp_path)
    one.append([1, 2, 3, 4])
    before = (tmp_path / FILE).read_bytes()
    one.drop(4)
    one.append([7])
    after = (tmp_path / FILE).read_bytes()
    one.close()
    (tmp_path / FILE).write_bytes(after + before[len(after) :])
    again = Journal(tmp_path)
    assert again.entries() == [7]
    again.close()


def test_journal_that_could_not_be_written_is_not_written_any_more(tmp_path: Path) -> None:
    with Path("/dev/full").open("ab", buffering=0) as full:
        one = Journal(tmp_path)
        one.append([1])
        one._file, kept = full, one._file
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be written"):
                one.append([2])
            one._file = kept
    one.close()
    again = Journal(tmp_path)
    assert again.entries() == [1]
    again.close()
