"""Files and frontier in step, wherever a process is killed."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.edge.crawl_node.frontier import Frontier, KnownPage, Waiting
from ipmicra.edge.crawl_node.outputs import OPEN, Outputs
from ipmicra.errors import InputError

STEPS = st.lists(st.sampled_from(["write", "commit", "kill", "complete"]), max_size=30)


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
