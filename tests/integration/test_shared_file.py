"""One hierarchy file, several processes: readers go on while a writer puts another in its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from ipmicra.edge.hierarchy_file import Hierarchy, write_atomically
from tests.patience import PATIENCE_S
from tests.reference.fast_building import file_bytes

ROOT = Path(__file__).parents[2]
READER = """
import json, sys
import numpy as np
from ipmicra import Hierarchy

path = sys.argv[1]
held = Hierarchy.open(path)
first = held.lookup("10.0.0.1").netname
print("ready", flush=True)
seen, opened = set(), 0
asked = np.uint32(11 << 24) + np.arange(1 << 15, dtype=np.uint32)
for line in sys.stdin:
    with Hierarchy.open(path) as fresh:
        fresh.verify()
        seen.add((fresh.lookup("10.0.0.1").netname, int(fresh.lookup_many(asked).max())))
        opened += 1
    assert held.lookup("10.0.0.1").netname == first
    held.verify()
    print("read", flush=True)
print(json.dumps([first, sorted(seen), opened]))
"""
WRITER = """
import sys
from contextlib import ExitStack
from pathlib import Path
from ipmicra.edge.hierarchy_file import write_atomically

path, *editions = sys.argv[1:]
contents = [Path(edition).read_bytes() for edition in editions]
for i in range(200):
    content = contents[i % len(contents)]
    write_atomically(Path(path), [content[k : k + 700] for k in range(0, len(content), 700)])
"""


def edition(name: str, more: int) -> bytes:
    further = "".join(f"\ninetnum: 11.0.{i}.0/24\nnetname: {name}{i}\n" for i in range(more))
    return file_bytes(f"inetnum: 10.0.0.0/8\nnetname: {name}\n{further}".encode())


def start(program: str, *words: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *(str(word) for word in words)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(reader: subprocess.Popen[str]) -> None:
    assert reader.stdin is not None
    reader.stdin.write("go\n")
    reader.stdin.flush()


def answer(reader: subprocess.Popen[str]) -> str:
    assert reader.stdout is not None
    return reader.stdout.readline()


def test_two_readers_see_whole_editions_while_a_writer_replaces_them(tmp_path: Path) -> None:
    """Who opened an edition keeps it; who opens anew sees one edition or the other, never a mixture."""
    path = tmp_path / "hierarchy.ipm"
    parts = [tmp_path / "one", tmp_path / "two"]
    parts[0].write_bytes(edition("ONE", 3))
    parts[1].write_bytes(edition("TWO", 90))
    write_atomically(path, [parts[0].read_bytes()])
    with ExitStack() as children:
        readers = [children.enter_context(start(READER, path)) for _ in range(2)]
        for reader in readers:
            children.callback(reader.kill)
            assert answer(reader) == "ready\n"
        writer = children.enter_context(start(WRITER, path, *parts))
        children.callback(writer.kill)
        rounds = 0
        while writer.poll() is None or rounds < 5:
            rounds += 1
            for reader in readers:
                ask(reader)
            assert [answer(reader) for reader in readers] == ["read\n", "read\n"]
        assert writer.returncode == 0
        for reader in readers:
            output, _ = reader.communicate(timeout=PATIENCE_S)
            first, seen, opened = json.loads(output)
            assert (reader.returncode, first, opened) == (0, "ONE", rounds)
            assert {tuple(each) for each in seen} <= {("ONE", 4), ("TWO", 91)}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hierarchy.ipm", "one", "two"]


def test_reader_keeps_its_edition_when_the_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "hierarchy.ipm"
    path.write_bytes(edition("ONE", 1))
    with Hierarchy.open(path) as hierarchy:
        path.unlink()
        assert hierarchy.lookup("10.0.0.1").netname == "ONE"
        hierarchy.verify()


def test_opening_a_file_leaves_no_descriptor_behind(tmp_path: Path) -> None:
    path = tmp_path / "hierarchy.ipm"
    path.write_bytes(edition("ONE", 1))
    for _ in range(20):
        with Hierarchy.open(path) as hierarchy:
            hierarchy.lookup("10.0.0.1")
        del hierarchy
    assert not [number for number in range(1000) if is_open_as(number, path)]


def is_open_as(number: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except OSError:
        return False
