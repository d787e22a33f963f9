"""Files and frontier in step, wherever a process is killed."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.crawl_node.frontier import Frontier, KnownPage, Waiting
from ipmicra.edge.crawl_node.outputs import OPEN, Outputs
from ipmicra.errors import InputError, StoreError

STEPS = st.lists(st.sampled_from(["write", "commit", "kill", "complete"]), max_size=30)


FRONTIER_CALLS: dict[str, Callable[[Frontier], object]] = {
    "add": lambda frontier: frontier.add(waiting(3)),
    "knows": lambda frontier: frontier.knows(bytes([1])),
    "take": lambda frontier: frontier.take("a"),
    "finish": lambda frontier: frontier.finish([1]),
    "keep_fact": lambda frontier: frontier.keep_fact("turn", "1"),
    "lengths": lambda frontier: frontier.lengths(),
    "commit": lambda frontier: frontier.commit(),
}


def waiting(number: int, slot: str = "a", rank: int = 0) -> Waiting:
    return Waiting(key=bytes([number]), host=f"h{number}", slot=slot, rank=rank, content=b"request")


@given(STEPS)
def test_file_has_what_was_committed_and_nothing_else(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frontier = Frontier.open(folder / "crawl.db")
        outputs = Outputs(folder, frontier)
        committed, written, number, part = b"", b"", 0, 0
        complete: list[bytes] = []
        for step in steps:
            if step == "write":
                number += 1
                data = f"{number};".encode()
                outputs.file(f"f{part}").write(data)
                written += data
            elif step == "commit":
                outputs.commit()
                committed = written
            elif step == "complete" and written:
                outputs.complete(f"f{part}")
                outputs.commit()
                complete.append(written)
                committed = written = b""
                part += 1
            elif step == "kill":
                for one in outputs._files.values():
                    one.close()  # what was not committed may have reached the disk
                frontier.__exit__()
                frontier = Frontier.open(folder / "crawl.db")
                outputs = Outputs(folder, frontier)
                written = committed
        outputs.close(is_done=True)
        frontier.__exit__()
        found = [path.read_bytes() for path in sorted(folder.glob("f*"), key=lambda one: int(one.name[1:]))]
        assert found == complete + ([written] if written else [])
        assert not list(folder.glob(f"*{OPEN}"))


def test_file_that_got_its_name_just_before_a_kill_is_left_alone(tmp_path: Path) -> None:
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        (tmp_path / "f0").write_bytes(b"whole")
        frontier.commit([("f0", 5)])
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        outputs = Outputs(tmp_path, frontier)
        assert outputs.names() == []
    assert (tmp_path / "f0").read_bytes() == b"whole"


def test_what_was_in_flight_waits_again_and_what_is_done_does_not(tmp_path: Path) -> None:
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        for number in range(3):
            assert frontier.add(waiting(number))
        assert not frontier.add(waiting(1)), "it is known"
        taken = [frontier.take("a") for _ in range(2)]
        assert taken[0] is not None
        frontier.finish([taken[0][0]])
        frontier.commit()
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        assert frontier.waiting() == {"a": 2}
        assert frontier.fetched() == 1
        assert frontier.knows(bytes([0]))


def test_lower_ranks_come_first_and_slots_are_kept_apart(tmp_path: Path) -> None:
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        for number, (slot, rank) in enumerate([("a", 2), ("a", 1), ("b", 0), ("a", 1)]):
            frontier.add(waiting(number, slot, rank))
        rows = [frontier.take("a") for _ in range(4)]
    assert [row and row[0] for row in rows] == [2, 4, 1, None]


def test_page_survives_a_new_turn_and_its_urls_do_not(tmp_path: Path) -> None:
    page = KnownPage(
        key=b"k", url="http://a.example/", links=("http://a.example/b",), checked_s=5.0, changed_s=4.0
    )
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        frontier.add(waiting(1))
        frontier.keep_page(page)
        frontier.start_turn()
        assert frontier.page(b"k") == page
        assert frontier.hosts() == {}
        assert frontier.pages_since(5.0) == [page.url]
        assert frontier.pages_since(5.1) == []


def test_file_that_is_no_frontier_is_refused(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_bytes(b"not a database at all, but long enough to be read as one" * 9)
    with pytest.raises(InputError, match="no frontier"):
        Frontier.open(tmp_path / "crawl.db")
    database = sqlite3.connect(tmp_path / "other.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(InputError, match="another version"):
        Frontier.open(tmp_path / "other.db")


def fail_one_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next sync of a file fail; those after it succeed, as they do on Linux, whatever was lost."""
    sync = os.fdatasync

    def fail(_number: int) -> None:
        monkeypatch.setattr(os, "fdatasync", sync)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """Let nothing be written into a file that this process has open."""
    (number,) = [int(one.name) for one in Path("/proc/self/fd").iterdir() if one.resolve() == path]
    kept, full = os.dup(number), os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)
        os.close(full)


@pytest.mark.parametrize("is_complete", [False, True])
def test_file_whose_sync_failed_is_never_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_complete: bool
) -> None:
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        outputs = Outputs(tmp_path, frontier)
        file = outputs.file("f0")
        file.write(b"page")
        frontier.add(waiting(1))
        if is_complete:
            outputs.complete("f0")
        fail_one_sync(monkeypatch)
        for _ in range(3):
            with pytest.raises(StoreError, match=r"f0\.open.*Input/output error: see to the disk"):
                outputs.commit()
        file.close()
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        assert (frontier.lengths(), frontier.waiting()) == ({}, {})
    assert not (tmp_path / "f0").exists()


def test_file_that_could_not_be_written_is_never_committed_though_there_is_room_again(tmp_path: Path) -> None:
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        outputs = Outputs(tmp_path, frontier)
        file = outputs.file("f0")
        with full_disk(tmp_path / f"f0{OPEN}"), pytest.raises(StoreError, match="No space left"):
            file.write(b"page" * 100_000)
        for _ in range(2):
            with pytest.raises(StoreError, match="No space left on device: see to the disk"):
                outputs.commit()
        assert frontier.lengths() == {}
        file.close()


def test_files_are_on_the_disk_before_the_frontier_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file grows on, the other is complete: sync both, commit, and only then rename."""
    calls: list[object] = []
    sync, commit, replace = os.fdatasync, Frontier.commit, Path.replace

    def noted_sync(number: int) -> None:
        calls.append((Path(f"/proc/self/fd/{number}").resolve().name, os.fstat(number).st_size))
        sync(number)

    def noted_commit(
        self: Frontier, lengths: Iterable[tuple[str, int]] = (), *, closed: Iterable[str] = ()
    ) -> None:
        lengths, closed = list(lengths), list(closed)
        calls.append(("commit", lengths, closed))
        commit(self, lengths, closed=closed)

    def noted_replace(self: Path, target: Path) -> Path:
        calls.append(("rename", target.name))
        return replace(self, target)

    with Frontier.open(tmp_path / "crawl.db") as frontier:
        outputs = Outputs(tmp_path, frontier)
        outputs.file("complete").write(b"123")
        outputs.complete("complete")
        file = outputs.file("growing")
        file.write(b"12345")
        monkeypatch.setattr(os, "fdatasync", noted_sync)
        monkeypatch.setattr(Frontier, "commit", noted_commit)
        monkeypatch.setattr(Path, "replace", noted_replace)
        outputs.commit()
        file.close()
    assert calls == [
        (f"growing{OPEN}", 5),
        (f"complete{OPEN}", 3),
        ("commit", [("growing", 5), ("complete", 3)], []),
        ("rename", "complete"),
        ("commit", [], ["complete"]),
    ]


@pytest.mark.parametrize("name", FRONTIER_CALLS)
def test_frontier_that_met_a_full_disk_does_nothing_more_though_there_is_room_again(
    tmp_path: Path, name: str
) -> None:
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        frontier.add(waiting(1))
        frontier.commit()
        frontier.add(waiting(2))
        database = frontier._db._raw
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="full: see to the disk, then start the node again"):
            frontier.keep_fact("large", "x" * 100_000)
        database.execute("PRAGMA max_page_count = 100000")
        for _ in range(2):
            with pytest.raises(StoreError, match="full: see to the disk"):
                FRONTIER_CALLS[name](frontier)
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        assert frontier.hosts() == {"h1": 1}, "what was not committed is fetched again, all of it"
