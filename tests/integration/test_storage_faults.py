"""Disks that fail, and power cuts: a few of each here, all of them in `bin/torture storage`."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT
from tests.patience import PATIENCE_S
from tests.torture.power_cut import Disk, Kind, Operation, cut

CARELESS = """
import sys
from pathlib import Path
from tests.torture.storage import FaultyDisk, cuts, faults
from tests.torture.works import WORKS, Work

def run(folder, acknowledge):
    (folder / "file").write_bytes(b"new" * 1000)
    acknowledge(1)

def check(folder, acknowledged):
    found = (folder / "file").read_bytes()
    if found not in (b"old", b"new" * 1000):
        yield "half a file"
    if acknowledged and found == b"old":
        yield "lost"

WORKS["careless"] = Work(prepare=lambda folder: (folder / "file").write_bytes(b"old"), run=run, check=check)
disk, root = FaultyDisk(), Path(sys.argv[1])
print(sum(bool(wrong) for _, wrong in faults(disk, "careless", root, 1, 1)))
print({text for _, wrong in cuts(disk, "careless", root, 20, 1, 1) for text in wrong})
"""

HIERARCHY = """
import sys
from pathlib import Path
from tests.torture.storage import FaultyDisk, cuts

for one, wrong in cuts(FaultyDisk(), "hierarchy", Path(sys.argv[1]), 3, 1, 1):
    print(one, wrong or "")
"""


@pytest.mark.slow
def test_failing_disks_and_power_cuts_lose_nothing_that_was_acknowledged() -> None:
    words = [sys.executable, "-m", "tests.torture.storage", "--every", "41", "--draws", "1"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, "0 findings" in done.stdout) == (0, True), done.stdout + done.stderr


def on_faulty_disk(script: str, folder: Path) -> list[str]:
    """Run a script with the disk that fails; return the lines that it prints."""
    from tests.torture.storage import preloaded

    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        cwd=ROOT,
        env=preloaded(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_hierarchy_that_was_reported_as_built_survives_a_power_cut_at_any_moment(tmp_path: Path) -> None:
    """Every operation of a build is followed by a cut: what is missing may be the very last of them."""
    found = on_faulty_disk(HIERARCHY, tmp_path)
    assert len(found) > 30, "each of a build's operations was followed by three cuts"
    assert [line for line in found if line.endswith("]")] == []


def test_careless_writing_is_found(tmp_path: Path) -> None:
    faults, cuts = on_faulty_disk(CARELESS, tmp_path)
    assert int(faults) > 0
    assert "half a file" in cuts


def drawn(tmp_path: Path, *log: Operation) -> set[tuple[tuple[str, bytes], ...]]:
    """All states that a few hundred draws find."""
    found = set()
    for seed in range(300):
        content, _ = cut(Disk(tmp_path), log, random.Random(seed))
        found.add(tuple(sorted((Path(path).name, data) for path, data in content.items())))
    return found


def test_what_is_synced_is_certain_and_what_is_not_may_be_missing(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    made = Operation(Kind.OPEN, path), Operation(Kind.WRITE, path, data=b"x")
    assert drawn(tmp_path, *made) == {(), (("a", b""),), (("a", b"x"),)}
    synced = *made, Operation(Kind.SYNC, path)
    assert drawn(tmp_path, *synced) == {(), (("a", b"x"),)}
    assert drawn(tmp_path, *synced, Operation(Kind.SYNC, str(tmp_path))) == {(("a", b"x"),)}


def test_renamed_file_has_its_old_or_its_new_name(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"1")
    (tmp_path / "new").write_bytes(b"2")
    renamed = Operation(Kind.RENAME, str(tmp_path / "old"), str(tmp_path / "new"))
    assert drawn(tmp_path, renamed) == {(("new", b"1"),), (("new", b"2"), ("old", b"1"))}


def test_writes_that_are_not_synced_come_in_any_order(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"..")
    first, second = Operation(Kind.WRITE, path, data=b"1"), Operation(Kind.WRITE, path, data=b"2")
    assert {state[0][1] for state in drawn(tmp_path, first, second)} == {b"..", b"1.", b"2."}
