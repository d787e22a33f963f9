"""`ipmicra demo` as a newcomer meets it; what it shows is tested in tests/integration/test_demo.py."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.command_line import DUMP, dump_file, invoked, ran, told
from tests.patience import PATIENCE_S


@dataclass(frozen=True)
class Shown:
    """A demonstration as a newcomer starts it, and the folders that it could have left something in."""

    done: subprocess.CompletedProcess[bytes]
    page: Path
    temporary: Path
    home: Path


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    folder = tmp_path_factory.mktemp("newcomer")
    page, temporary, home = (folder / name for name in ("page.html", "tmp", "home"))
    temporary.mkdir()
    home.mkdir()
    words = ("demo", "--crawlers", "3", "--sites", "10", "-o", page)
    return Shown(ran(*words, TMPDIR=str(temporary), IPMICRA_HOME=str(home)), page, temporary, home)


def test_newcomer_sees_steps_table_and_report(shown: Shown) -> None:
    done, page = shown.done, shown.page
    text, said = done.stdout.decode(), told(done)
    assert done.returncode == 0
    for word in ("predict + fair load", "everyone", "site hash", "optimal", "pages/h", "10 sites delegated"):
        assert word in text
    assert "\x1b" not in text + said
    steps = (
        "1. building",
        "2. starting 3 agents and 10 web",
        "3. delegating 10 sites",
        "4. assigning",
        "5. ",
    )
    for step in (*steps, "6. ", "7. downloading"):
        assert step in said
    assert "pages downloaded by Scrapy processes" in text
    assert "It is wide on purpose" in said
    assert f"report: {page}" in said
    assert page.read_text().lstrip().lower().startswith("<!doctype html")
    assert not list(shown.temporary.iterdir()), "the temporary folder is gone"


def test_users_own_home_is_not_touched(shown: Shown) -> None:
    assert shown.done.returncode == 0
    assert not list(shown.home.iterdir())


def test_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("precious")
    for words in (("demo", "--home", tmp_path), ("--home", tmp_path, "demo")):
        done = ran(*words)
        assert done.returncode == 2
        assert "name a new or empty folder" in told(done)
    assert (tmp_path / "state.db").read_text() == "precious"


def test_dumps_that_no_world_can_be_made_of_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    dump_file(folder, DUMP)
    done = ran("demo", "--dumps", folder, "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert "no world can be made" in told(done)
    assert not (tmp_path / "page.html").exists()


def test_folder_without_dumps_is_told(tmp_path: Path) -> None:
    done = ran("demo", "--dumps", tmp_path)
    assert done.returncode == 2
    assert str(tmp_path) in told(done)
    assert invoked("demo", "--dumps", tmp_path / "none").exit_code == 2


def test_report_that_cannot_be_written_is_told_before_anything_is_done(tmp_path: Path) -> None:
    done = ran("demo", "-o", tmp_path / "none" / "page.html")
    assert done.returncode == 2
    assert "none" in told(done)
    assert "building" not in told(done)


IN_THE_BACKGROUND = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for what a script starts with &
from ipmicra.cli.demo import _stopped_by_sigterm
try:
    with _stopped_by_sigterm():
        print("runs", flush=True)
        signal.pause()
except KeyboardInterrupt:
    print("stopped")
"""


def test_demo_in_the_background_of_a_script_can_be_ended() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", IN_THE_BACKGROUND], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "runs\n"
        child.terminate()
        assert child.communicate(timeout=PATIENCE_S)[0] == "stopped\n"
