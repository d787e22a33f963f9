"""Downloads that are killed on the way, for real."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ipmicra.edge.fetch.download import fetch
from ipmicra.edge.fetch.options import FetchOptions, FetchResult
from ipmicra.edge.pace.blocking import guarded_session
from ipmicra.errors import FetchError
from ipmicra.model.dump_source import DumpKind, DumpSource
from ipmicra.model.registry import Registry
from tests.patience import PATIENCE_S, wait_until
from tests.servers.dump_server import DumpServer, Mood

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
NAME = "dump.db.gz"
PATH = f"/{NAME}"
OLD, NEW = random.Random(1).randbytes(600_000), random.Random(2).randbytes(600_000)
"""Of the same size, so that size alone tells nothing."""

CHILD = """
import json, os, signal, sys, time
from pathlib import Path
from ipmicra.edge.fetch.download import fetch
from ipmicra.edge.pace.blocking import guarded_session
from ipmicra.model.dump_source import DumpKind, DumpSource
from ipmicra.model.registry import Registry

def fetch_into(folder):
    source = DumpSource(name="dump.db.gz", registry=Registry.RIPE, kind=DumpKind.WHOIS, url=sys.argv[1])
    with guarded_session() as session:
        session.trust_env = False
        fetch(source, Path(folder), session=session, sleep=time.sleep)

def dying_at(folder, step):
    steps = 0

    def hook(event, arguments):
        nonlocal steps
        if event in {"open", "os.rename", "os.remove", "fcntl.flock"} and (
            event == "fcntl.flock" or str(arguments[0]).startswith(folder)
        ):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook
"""
ALONE = "fetch_into(sys.argv[2])"
FORKED = """
codes = []
for step, folder in enumerate(sys.argv[2:], start=1):
    child = os.fork()
    if not child:
        sys.addaudithook(dying_at(folder, step))
        fetch_into(folder)
        sys.exit()
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(codes))
"""
"""One process for each folder, with everything loaded before; it kills itself before a step on the disk."""


@pytest.fixture
def server() -> Iterator[DumpServer]:
    with DumpServer() as server:
        yield server


def fetch_here(server: DumpServer, folder: Path, attempts: int = 5) -> FetchResult:
    url = f"{server.url}{PATH}"
    source = DumpSource(name=NAME, registry=Registry.RIPE, kind=DumpKind.WHOIS, url=url)
    with guarded_session() as session:
        session.trust_env = False
        options = FetchOptions(attempts=attempts)
        return fetch(source, folder, session=session, sleep=time.sleep, options=options)


def start_child(server: DumpServer, program: str, *folders: Path) -> subprocess.Popen[bytes]:
    """Fetch in another process."""
    command = [sys.executable, "-c", CHILD + program, f"{server.url}{PATH}", *map(str, folders)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end_of(child: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Wait for a process; give its exit code and what it printed."""
    printed, errors = child.communicate(timeout=PATIENCE_S)
    assert errors == b"", errors.decode()
    return child.returncode, printed


def wait_for_growth(path: Path, size: int) -> None:
    """Wait until a file is larger than a size."""
    wait_until(lambda: path.exists() and path.stat().st_size > size, f"{path} to grow")


def test_download_killed_again_and_again_ends_in_the_same_bytes(server: DumpServer, tmp_path: Path) -> None:
    """Each run resumes where the one before was killed, and the old dump stays until the new one is whole."""
    server.publish(PATH, OLD)
    fetch_here(server, tmp_path)
    server.publish(PATH, NEW, etag='"v2"')
    part, size = tmp_path / f"{NAME}.part", 0
    for _ in range(3):
        server.expect(PATH, Mood(stops_after=150_000))
        child = start_child(server, ALONE, tmp_path)
        wait_for_growth(part, size)
        child.kill()
        assert end_of(child) == (-9, b"")
        size = part.stat().st_size
        assert (tmp_path / NAME).read_bytes() == OLD
    assert 0 < size < len(NEW)
    result = fetch_here(server, tmp_path)
    assert (result.status, result.bytes_received) == ("resumed", len(NEW) - size)
    assert (tmp_path / NAME).read_bytes() == NEW
    assert server.asked_for(PATH)[-1]["Range"] == f"bytes={size}-"


def test_kill_before_any_step_on_disk_leaves_the_old_dump_or_the_new(
    server: DumpServer, tmp_path: Path
) -> None:
    """One process for each step: it dies there, and the next fetch sets all right.

    Beside the old dump each finds a part of a version in between. The next fetch must also do without the
    part, should somebody have swept it away.
    """
    folders = [tmp_path / str(step) for step in range(1, 17)]
    for folder in folders:
        server.publish(PATH, OLD)
        fetch_here(server, folder)
        server.publish(PATH, OLD[::-1], etag='"between"')
        server.expect(PATH, Mood(cut_after=100_000))
        with pytest.raises(FetchError):
            fetch_here(server, folder, attempts=1)
    server.publish(PATH, NEW, etag='"v2"')
    code, printed = end_of(start_child(server, FORKED, *folders))
    assert code == 0
    codes = json.loads(printed)
    died = codes.count(-9)
    assert died >= 8
    assert codes == [-9] * died + [0] * (len(codes) - died)
    assert codes[-1] == 0, "not every step was tried"
    found = [(folder / NAME).read_bytes() for folder in folders]
    assert set(found) == {OLD, NEW}
    swept = [Path(shutil.copytree(folder, f"{folder}-swept")) for folder in folders]
    for folder in swept:
        (folder / f"{NAME}.part").unlink(missing_ok=True)
    for folder in folders + swept:
        fetch_here(server, folder)
        assert (folder / NAME).read_bytes() == NEW
        assert {path.name for path in folder.iterdir()} == {NAME, f".{NAME}.json"}
        assert fetch_here(server, folder).status == "unchanged"
