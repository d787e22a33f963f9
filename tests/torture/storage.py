"""`bin/torture storage`: let every operation on files fail once, and cut the power at every moment.

Theory of operation
-------------------
The campaign runs in a process with a disk that fails (`faulty_disk.c`, preloaded). For each piece of work
(`works.py`) it first counts the operations. Then, for every n and every way to fail, a child is forked that
works in a fresh folder while the n-th operation fails; what it acknowledged comes over a pipe. The parent,
whose disk is well, checks the folder. An operation may fail

    once with EIO, once with ENOSPC | from now on (the disk is full, or gone) | by halves (a short write)

A child ends with success or with an error of ours; anything else that ends it is a finding.

Power cuts need no child each: one run is logged, and the log is cut after every operation; from each
beginning some of the states are drawn that a disk may be in (`power_cut.py`), and checked.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ipmicra.errors import IpmicraError
from tests.torture.power_cut import Disk, cut, read_log
from tests.torture.works import WORKS, Work

SOURCE = Path(__file__).with_name("faulty_disk.c")
ONCE, FROM_NOW_ON, HALF = range(3)
WAYS = {
    "EIO": (errno.EIO, ONCE),
    "ENOSPC": (errno.ENOSPC, ONCE),
    "full": (errno.ENOSPC, FROM_NOW_ON),
    "short": (errno.EIO, HALF),
}
CLEAN, SAID = 0, 3
"""How a child ends: with success, or with an error that says what happened."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a piece of work ended."""

    code: int
    acknowledged: list[int]
    trouble: str = ""


class FaultyDisk:
    """The preloaded library."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._library.torture_count.restype = ctypes.c_long

    def arm(self, folder: Path, at: int = 0, way: tuple[int, int] = (0, 0), log: int = -1) -> None:
        self._library.torture_arm(str(folder).encode(), ctypes.c_long(at), *way, log)

    def count(self) -> int:
        return int(self._library.torture_count())

    def note(self, number: int) -> None:
        self._library.torture_note(ctypes.c_long(number))


def run_forked(disk: FaultyDisk, work: Work, folder: Path, at: int, way: tuple[int, int]) -> Outcome:
    """Run a work in a child while its n-th operation fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        code = 1
        try:
            disk.arm(folder, at, way)
            work.run(folder, partial(_say, writer))
            code = CLEAN
        except (IpmicraError, OSError) as error:
            os.write(writer, f"! {type(error).__name__}: {error}\n".encode()[:2000])
            code = SAID
        except BaseException as error:  # noqa: BLE001 - reported by the parent
            os.write(writer, f"! {type(error).__name__}: {error}\n".encode()[:2000])
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as lines:
        said = lines.read().splitlines()
    _, status = os.waitpid(child, 0)
    numbers = [int(line) for line in said if line.isdecimal()]
    trouble = " ".join(line for line in said if not line.isdecimal())
    return Outcome(os.waitstatus_to_exitcode(status), numbers, trouble)


def _say(writer: int, number: int) -> None:
    os.write(writer, b"%d\n" % number)


def faults(
    disk: FaultyDisk, name: str, root: Path, every: int, first: int
) -> Iterator[tuple[str, list[str]]]:
    """Let operations fail, one after the other; return each fault with what is wrong after it."""
    work = WORKS[name]
    prepared, total = _counted(disk, work, root)
    for way, how in WAYS.items():
        for at in range(first, total + 1, every):
            folder = _copied(prepared, root)
            outcome = run_forked(disk, work, folder, at, how)
            wrong = [] if outcome.code in {CLEAN, SAID} else [f"ended with {outcome.code}: {outcome.trouble}"]
            wrong += checked(work, folder, outcome.acknowledged)
            yield f"{name}: operation {at} of {total}, {way}", wrong


def cuts(
    disk: FaultyDisk, name: str, root: Path, draws: int, every: int, seed: int
) -> Iterator[tuple[str, list[str]]]:
    """Cut the power after every operation; return each cut with what is wrong after it."""
    work = WORKS[name]
    prepared, _ = _counted(disk, work, root)
    folder = _copied(prepared, root)
    path = root / "log"
    log_file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    disk.arm(folder, log=log_file)
    work.run(folder, disk.note)
    disk.arm(root / "nowhere")
    os.close(log_file)
    log = read_log(path.read_bytes())
    for end in range(seed % every, len(log) + 1, every):
        for draw in range(draws):
            rng = random.Random(f"{seed} {end} {draw}")
            before = _copied(prepared, root)
            content, noted = cut(Disk(before), log[:end], rng)
            for one in before.iterdir():
                one.unlink()
            for name_, data in content.items():
                Path(name_).write_bytes(data)
            wrong = checked(work, before, noted if work.survives_power_cuts else [])
            yield f"{name}: power cut after operation {end} of {len(log)}, draw {draw}", wrong


def checked(work: Work, folder: Path, acknowledged: list[int]) -> list[str]:
    """Return what is wrong with a folder; files that cannot be read are wrong, too."""
    try:
        return list(work.check(folder, acknowledged))
    except Exception as error:  # noqa: BLE001 - a finding
        return [f"cannot be read: {type(error).__name__}: {error}"]


def _counted(disk: FaultyDisk, work: Work, root: Path) -> tuple[Path, int]:
    """Prepare a folder; return it, and the number of operations of the work."""
    prepared = root / "prepared"
    shutil.rmtree(prepared, ignore_errors=True)
    prepared.mkdir()
    work.prepare(prepared)
    folder = _copied(prepared, root)
    disk.arm(folder)
    work.run(folder, lambda _number: None)
    total = disk.count()
    disk.arm(root / "nowhere")
    wrong = checked(work, folder, [])
    assert not wrong, wrong
    return prepared, total


def _copied(prepared: Path, root: Path) -> Path:
    folder = root / "work"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
    return folder


def preloaded(folder: Path) -> dict[str, str]:
    """Compile the disk; return the environment that preloads it."""
    library = folder / "faulty_disk.so"
    compiler = os.environ.get("CC", "cc")
    words = ["-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run([compiler, *words], check=True)
    return {**os.environ, "LD_PRELOAD": str(library)}


def main() -> int:
    """Run the campaign; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=WORKS, default=list(WORKS), help="pieces of work")
    parser.add_argument("--every", type=int, default=1, help="only every so many operations")
    parser.add_argument("--draws", type=int, default=10, help="states drawn after each power cut")
    parser.add_argument("--seed", type=int, default=1, help="of the draws, and of where `--every` begins")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        root = Path(kept).resolve()
        if "faulty_disk" not in os.environ.get("LD_PRELOAD", ""):
            words = [sys.executable, "-m", "tests.torture.storage", *sys.argv[1:]]
            return subprocess.run(words, env=preloaded(root), check=False).returncode
        return _campaign(asked, FaultyDisk(), root)


def _campaign(asked: argparse.Namespace, disk: FaultyDisk, root: Path) -> int:
    found = 0
    for name in asked.only:
        first = 1 + asked.seed % asked.every
        for what, series in (
            ("faults", faults(disk, name, root, asked.every, first)),
            ("power cuts", cuts(disk, name, root, asked.draws, asked.every, asked.seed)),
        ):
            count = 0
            for one, wrong in series:
                count += 1
                found += bool(wrong)
                for text in wrong:
                    print(f"{one}: {text}", flush=True)  # noqa: T201 - a script
            print(f"{name}: {count:,} {what}", flush=True)  # noqa: T201 - a script
    again = f"bin/torture storage --seed {asked.seed} --every {asked.every} --draws {asked.draws}"
    print(f"{found} findings; the same again: {again}")  # noqa: T201 - a script
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
