"""Whole commands under falling limits of their address space, as `ulimit -v` sets them.

Each command is run without a limit first. Then the least limit under which it works is found by halving, and
it is run under limits below that: some from what Python needs to start, as many in the last megabytes, where
the smallest things fail. It ends right, or with one line that says that memory ran out and exit code 1. No
signal, no endless loop, no traceback; files that were there stay, nothing is left beside them, and the store
is sound.
"""

from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ipmicra.cli.out_of_memory import NO_MEMORY
from tests.cli.command_line import ROOT, SAMPLE
from tests.patience import PATIENCE_S

PREPARED, HOME = "prepared", "home"
LEAST_MB = 24
"""Below this neither Python nor the command line starts."""
MOST_MB = 4096
LAST_MB = 16
"""Half of the limits are so close below what is enough."""
CPU_S = 30
"""Far more than any of the commands takes: whoever is stuck is ended by a signal."""
HOSTS = "".join(f"{first}.{second}.0.9\n" for first in (2, 31, 41, 62, 77) for second in range(20))
COMMANDS: dict[str, list[str]] = {
    "build": [
        "build",
        *sorted(str(path) for path in SAMPLE.iterdir() if path.is_file()),
        "-o",
        "home/hierarchy.ipm",
    ],
    "info": ["info", "--verify", "--json"],
    "lookup": ["lookup", "hosts.txt", "--format", "csv"],
    "parquet": ["lookup", "hosts.txt", "--format", "parquet"],
    "org": ["org", "net", "--json"],
    "locate": ["locate", "--offline", "hosts.txt", "--json"],
    "delegate": ["delegate", "--dry-run", "--policy", "hash", "hosts.txt", "--json"],
    "assign": ["assign", "hosts.txt", "--json"],
    "export": ["export", "--for", "csv", "-o", "home/exported.csv"],
    "partition": ["partition", "hosts.txt", "--method", "hash", "--json"],
    "crawler": ["crawler", "list", "--json"],
    "rules": ["rules", "41.0.0.9", "--json"],
    "forget": ["forget", "41.0.0.9", "--json"],
}
"""Run in a folder of their own, on a copy of what `prepare` makes."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: bytes
    err: str
    files: dict[str, bytes]


def prepare(root: Path) -> None:
    """Make a home with a hierarchy, a fleet, rules and assignments."""
    home = root / PREPARED / HOME
    home.mkdir(parents=True)
    (root / PREPARED / "hosts.txt").write_text(HOSTS, encoding="ascii")
    (home / "rules.txt").write_text("any -> prefer=fra\n", encoding="ascii")
    for words in (
        COMMANDS["build"],
        ["crawler", "add", "fra", "41.0.0.1", "--latitude", "50", "--longitude", "8"],
        ["crawler", "add", "nyc", "62.0.0.1", "--latitude", "40", "--longitude", "-74"],
        ["assign", "hosts.txt"],
    ):
        done = run_limited(root / PREPARED, words, 0)
        assert done.returncode == 0, done.stderr


def run_limited(folder: Path, words: list[str], limit_mb: float) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a folder under a limit of its address space; none for 0."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limit_mb:
            resource.setrlimit(resource.RLIMIT_AS, (int(limit_mb * 2**20), int(limit_mb * 2**20)))

    return subprocess.run(
        [sys.executable, "-m", "ipmicra", "--home", HOME, *words],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        preexec_fn=limit,
        check=False,
    )


def ended(root: Path, words: list[str], limit_mb: float) -> tuple[Ended, Path]:
    """Run a command on a fresh copy; return how it ended, and the folder."""
    folder = root / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / PREPARED, folder)
    done = run_limited(folder, words, limit_mb)
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("state.db")
    }
    return Ended(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), files), folder


def wrongs(one: Ended, right: Ended, before: dict[str, bytes], folder: Path) -> Iterator[str]:
    """Say what must not be after a command that may have had too little memory."""
    if one.code == 0:
        if (one.out, one.files) != (right.out, right.files):
            yield "another result"
    elif one.code != 1:
        yield f"exit code {one.code}"
    else:
        *others, last = one.err.splitlines() or [""]
        if last != f"ipmicra: {NO_MEMORY}" or not set(others) <= set(right.err.splitlines()):
            yield f"said {one.err[-300:]!r}"
    if one.code != 0 and one.files not in (before, right.files):
        changed = {
            name for name in one.files.keys() | before.keys() if one.files.get(name) != before.get(name)
        }
        yield f"left {sorted(changed)}"
    with sqlite3.connect(folder / HOME / "state.db") as store:
        if store.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            yield "the store is damaged"
    store.close()


def least(root: Path, words: list[str]) -> float:
    """Return the least limit under which a command works, to half a megabyte."""
    low, high = float(LEAST_MB), LEAST_MB * 2.0
    while high < MOST_MB and ended(root, words, high)[0].code:
        low, high = high, high * 2
    while high - low > 1 / 2:
        middle = (low + high) / 2
        low, high = (middle, high) if ended(root, words, middle)[0].code else (low, middle)
    return high


def below(enough: float, steps: int) -> list[float]:
    """Return limits up to what is enough: half of them evenly spread, the others close to it."""
    spread, last = (steps + 1) // 2, min(LAST_MB, enough - LEAST_MB)
    close = [enough - last * step / (steps - spread) for step in range(steps - spread)]
    return [LEAST_MB + (enough - LEAST_MB) * step / spread for step in range(spread)] + close[::-1]


def sweep(name: str, steps: int, root: Path) -> tuple[float, list[int], list[str]]:
    """Run a command under limits; return what is enough in megabytes, the exit codes, and what is wrong."""
    words = COMMANDS[name]
    right, _ = ended(root, words, 0)
    before = {
        str(path.relative_to(root / PREPARED)): path.read_bytes()
        for path in sorted((root / PREPARED).rglob("*"))
        if path.is_file() and not path.name.startswith("state.db")
    }
    found = [f"{name}: without a limit: exit code {right.code}: {right.err}"] if right.code else []
    enough = least(root, words)
    codes: list[int] = []
    for limit_mb in below(enough, steps):
        one, folder = ended(root, words, limit_mb)
        codes.append(one.code)
        found += [f"{name}: {limit_mb:.2f} MB: {text}" for text in wrongs(one, right, before, folder)]
    return enough, codes, found


def campaign(names: list[str], steps: int, root: Path) -> int:
    """Run commands under limits; return the number of findings."""
    prepare(root)
    findings = 0
    for name in names:
        enough, codes, found = sweep(name, steps, root)
        findings += len(found)
        for text in found:
            print(text, flush=True)  # noqa: T201
        refused = codes.count(1)
        print(f"{name}: works from {enough:.0f} MB; {len(codes)} limits, {refused} refused", flush=True)  # noqa: T201
    print(f"limits: {findings} findings", flush=True)  # noqa: T201
    return findings
