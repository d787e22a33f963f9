"""Every command through the installed entry point: its help, and one real call."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ipmicra.cli.examples import EXAMPLES
from ipmicra.cli.main import app, command_names, group_names
from tests.cli.command_line import ROOT, ran, told
from tests.cli.json_schemas import check_output, path_of
from tests.cli.prepared import Prepared, prepared
from tests.patience import PATIENCE_S
from tests.servers.dump_server import DumpServer

ENTRY = Path(sys.executable).with_name("ipmicra")
COMMANDS = [name for name in command_names() if name not in set(group_names())]
TESTED_ELSEWHERE = {
    "demo": "tests/integration/test_demo.py",
    "agent": "the test of its interrupt below",
    "serve": "tests/service",
    "divert": "tests/cli/test_divert_command.py: it prints nothing",
    "frontier": "tests/cli/test_export_command.py: it runs until it is stopped",
    "crawl": "tests/cli/test_crawl_command.py: it prints nothing but progress",
    "export": "tests/cli/test_export_command.py: it prints what other programs read",
    "simulate crawl": "tests/cli/test_simulate_crawl_command.py: it starts a web and Scrapy processes",
    "store backup": "tests/cli/test_store_command.py: it prints nothing",
    "token add": "tests/cli/test_token_command.py: it prints a token and nothing else",
    "token list": "tests/cli/test_token_command.py: it needs a token",
    "token revoke": "tests/cli/test_token_command.py: so does this",
}

Call = Callable[[Prepared], str]
CALLS: dict[str, Call] = {
    "fetch": lambda _: "fetch lacnic.db.gz --list",
    "build": lambda at: f"build {at.folder}/a.db -o {at.folder}/b.ipm",
    "info": lambda at: f"--home {at.home} info --verify",
    "lookup": lambda at: f"--home {at.home} lookup {at.host} 203.0.112.0/24",
    "org": lambda at: f"org alpha --hierarchy {at.folder}/b.ipm",
    "diff": lambda at: f"diff {at.home}/hierarchy.ipm {at.folder}/b.ipm",
    "locate": lambda at: f"--home {at.home} locate --offline {at.host}",
    "crawler add": lambda at: f"--home {at.folder} crawler add ath 192.0.2.1 --label region=south",
    "crawler list": lambda at: f"--home {at.folder} crawler list",
    "crawler drain": lambda at: f"--home {at.folder} crawler drain ath",
    "crawler remove": lambda at: f"--home {at.folder} crawler remove ath",
    "crawler import": lambda at: f"--home {at.folder} crawler import {at.folder}/world/crawlers.csv",
    "probe": lambda at: f"--home {at.home} probe {_url(at)} --from all --first-rung head --samples 1",
    "crawler measure": lambda at: (
        f"--home {at.home} crawler measure --port {at.internet.port} --first-rung head --samples 1"
    ),
    "delegate": lambda at: (
        f"--home {at.home} delegate {at.folder}/seeds.txt --first-rung head --samples 1 --location none"
    ),
    "explain": lambda at: f"--home {at.home} explain {at.host} --json",
    "forget": lambda at: f"--home {at.home} forget {at.host} --dry-run --json",
    "store info": lambda at: f"--home {at.home} store info",
    "store copy": lambda at: f"store copy {at.home}/state.db {at.folder}/copy.db",
    "store prune": lambda at: f"--home {at.home} store prune --dry-run",
    "rules": lambda at: f"--home {at.home} rules --rules {at.folder}/some.rules",
    "assign": lambda at: f"--home {at.home} assign {at.host} --dry-run",
    "report": lambda at: f"report --world {at.folder}/world -o {at.folder}/report.html",
    "evaluate": lambda at: f"--home {at.home} evaluate {at.folder}/world --policy hash --seeds 1",
    "partition": lambda at: f"partition --world {at.folder}/world --method hash --method country",
    "simulate splitting": lambda at: (
        f"simulate splitting --population {at.folder}/matrix.npz --scheme NH --seeds 1"
    ),
    "simulate delegation": lambda _: "simulate delegation --policy paper --sites 60 --seeds 1",
    "simulate pieces": lambda _: "simulate pieces --sites 3 --pages 60 --most 3",
    "simulate variation": lambda _: "simulate variation --claims",
    "simulate coordinates": lambda at: (
        f"simulate coordinates --matrix {at.folder}/matrix.npz --method ridge --seeds 1"
        " --crawlers 20 --landmarks 8"
    ),
    "simulate churn": lambda _: "simulate churn --scheme dht --seeds 1 --steps 50 --crawlers 4 --sites 10",
    "simulate partition": lambda _: "simulate partition --hosts 60 --parts 2,3 --fixed-parts 3",
}
"""In an order in which each finds what it needs."""


def _url(at: Prepared) -> str:
    return f"http://{at.host}:{at.internet.port}/"


def installed(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run what pip put on the path, as from a terminal of 80 columns whose output goes into a pipe."""
    return subprocess.run(
        [str(ENTRY), *words],
        env={**os.environ, "COLUMNS": "80", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=240,
    )


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared(tmp_path_factory.mktemp("installed")) as made:
        yield made


def test_every_command_has_a_real_call() -> None:
    assert {*CALLS, *TESTED_ELSEWHERE} == set(COMMANDS)


def test_every_command_with_output_has_a_schema() -> None:
    assert [name for name in (*CALLS, "crawl", "demo", "token list") if not path_of(name).is_file()] == []


def test_value_of_another_type_and_a_missing_name_are_noticed() -> None:
    good: dict[str, object] = {"edition": {}, "file": "a.ipm"}
    wrong: tuple[dict[str, object], ...] = ({**good, "file": 5}, {"edition": {}})
    for bad in wrong:
        with pytest.raises(AssertionError, match="ipmicra info"):
            check_output("info", bad)


def test_real_calls_give_json_into_a_pipe(ready: Prepared) -> None:
    """All in one scenario: later commands work on what earlier ones left."""
    for name, call in CALLS.items():
        done = installed(*call(ready).split(), IPMICRA_AGENT_TOKEN=ready.internet.token)
        assert done.returncode == 0, (name, told(done))
        assert "Traceback" not in told(done)
        found = json.loads(done.stdout)
        assert found, name
        check_output(name, found)


def test_agent_runs_until_it_is_interrupted_and_says_so(ready: Prepared) -> None:
    command = [str(ENTRY), "--log-format", "json", "agent", "--listen", "127.0.0.1:0"]
    child = subprocess.Popen(
        [*command, "--token-file", str(ready.folder / "token")], stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    first = json.loads(child.stderr.readline())
    assert first["event"] == "agent_listens"
    assert first["url"].startswith("http://127.0.0.1:")
    child.send_signal(signal.SIGINT)
    last = [json.loads(line) for line in child.stderr]
    assert child.wait(60) == 130
    child.stderr.close()
    assert [line["event"] for line in last] == ["agent_stopped", "said"]
    assert last[-1]["message"].startswith("interrupted: ")


def test_module_and_entry_point_are_the_same() -> None:
    by_module = subprocess.run(
        [sys.executable, "-m", "ipmicra", "--version"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=240,
    )
    assert by_module.stdout == installed("--version").stdout
    assert re.fullmatch(rb"ipmicra \d+\.\d+\.\d+\n", by_module.stdout)


# --- help


@pytest.mark.parametrize("name", ["", *command_names()])
def test_help_fits_eighty_columns_uncut_and_without_colour(name: str) -> None:
    done = ran(*name.split(), "--help", COLUMNS="80")
    page = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert max(map(len, page.splitlines())) <= 80
    assert "\x1b" not in page
    assert not re.search(r"[a-z,;:]\.\.\.$", page, re.MULTILINE)
    assert page.startswith(f"Usage: ipmicra {name}".rstrip())


def test_help_lists_commands_under_headings_with_first_steps_at_the_end() -> None:
    page = installed("-h").stdout.decode()
    headings = re.findall(r"^([A-Z][^\n]*):$", page, re.MULTILINE)
    assert headings[:2] == ["Start here", "The hierarchy"]
    assert headings[-1] == "Options"
    assert page.index("Options:") < page.index("The usual path:") < page.rindex("IPMICRA_HOME")
    listed = re.findall(r"^  ([a-z]+)  +[A-Z]", page, re.MULTILINE)
    assert listed == [name for name in command_names() if " " not in name]


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_use_options_that_there_are(name: str) -> None:
    page = installed_help(name)
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        assert f"ipmicra {name}" in example
        assert all(option in page for option in re.findall(r"(?<= )-[-a-z]+", example.split("ipmicra")[-1]))
        assert example.splitlines()[0] in page


def installed_help(name: str) -> str:
    from typer.testing import CliRunner

    return CliRunner().invoke(app, [*name.split(), "--help"]).stdout


# --- closed pipes, full disks, faults


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is there on Linux only")
def test_full_disk_is_a_failure_told_in_one_line(ready: Prepared) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [str(ENTRY), "--home", str(ready.home), "lookup", ready.host],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=240,
        )
    assert (done.returncode, done.stderr.decode()) == (1, "ipmicra: No space left on device\n")


def test_reader_that_goes_away_is_no_failure_to_speak_of(ready: Prepared) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [str(ENTRY), "--home", str(ready.home), "lookup", ready.host, "203.0.112.0/24"]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=240)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


FAULTY = """
import sys
import ipmicra.cli.main as main
import ipmicra.app.fetch
def broken(*_words, **_more):
    raise KeyError("no such thing, token=https://me:secret@example.org/")
ipmicra.app.fetch.choose = broken
main.run()
"""


@pytest.mark.parametrize("level", ["warning", "debug"])
def test_fault_of_ours_is_told_as_such_and_debugging_shows_where(level: str) -> None:
    command = [sys.executable, "-c", FAULTY, "--log-level", level, "fetch", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=240, text=True)
    assert done.returncode == 1
    assert "a fault of ipmicra, not of yours: KeyError" in done.stderr
    assert "--log-level debug" in done.stderr
    assert ("Traceback" in done.stderr) == (level == "debug")


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split(",")))
import ipmicra.cli.main
ipmicra.cli.main.run()
"""


@pytest.mark.parametrize(
    ("packages", "words", "extra"),
    [
        ("scipy", "partition --world {world} --method metis-geo", "partition"),
        ("pymetis", "partition --world {world} --method metis-geo", "partition"),
        ("matplotlib", "evaluate {world} --plot a.svg", "plot"),
        ("pyarrow", "lookup {host} --format parquet", "columnar"),
        ("psycopg", "crawler list --store postgresql://nobody@127.0.0.1:1/none", "postgres"),
        ("scrapy", "crawl {host}", "scrapy"),
        ("grpc", "frontier --upstream 127.0.0.1:1", "urlfrontier"),
    ],
)
def test_command_beyond_the_core_names_its_extra(
    packages: str, words: str, extra: str, ready: Prepared
) -> None:
    told_words = words.format(world=ready.folder / "world", host=ready.host).split()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, packages, "--home", str(ready.home), *told_words],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=240,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert f"pip install 'ipmicra[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


WITHOUT_ANY = """
import sys
from pathlib import Path
import ipmicra
from ipmicra.errors import EXTRA_OF
sys.modules.update(dict.fromkeys(EXTRA_OF))
for name in ipmicra.__all__:
    getattr(ipmicra, name)
def spider(): import ipmicra.scrapy
def parquet(): ipmicra.evaluate(ipmicra.EvaluateOptions(world=Path(sys.argv[1]), hierarchy=None))
def postgres():
    from ipmicra.edge.store.store import Store
    Store.open("postgresql://nobody@127.0.0.1:1/none")
def plots(): from ipmicra.lab.plots.picture import check_picture; check_picture(Path("a.png"))
def bloom(): from ipmicra.partition.exchange.visited import BloomVisited; BloomVisited(10)
def requests(): import ipmicra.crawlee
for call in (spider, parquet, postgres, plots, bloom, requests):
    try:
        call()
    except ipmicra.MissingExtraError as error:
        print(error)
"""


def test_library_beyond_the_base_install_names_its_extra(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    command = [sys.executable, "-c", WITHOUT_ANY, str(tmp_path / "rows.parquet")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=240, text=True)
    extras = re.findall(r"^[^\n]+ needs \w+: pip install 'ipmicra\[(\w+)\]'$", done.stdout, re.MULTILINE)
    assert extras == ["scrapy", "columnar", "postgres", "plot", "partition", "crawlee"]


def test_real_download_through_the_entry_point(tmp_path: Path) -> None:
    with DumpServer() as server:
        server.publish("/lacnic.db.gz", b"inetnum: 10/8\n" * 100)
        words = ("fetch", "lacnic.db.gz", "--to", str(tmp_path), "--base-url", server.url)
        done = installed("--log-level", "info", "--log-format", "json", *words)
    assert done.returncode == 0, told(done)
    events = [json.loads(line)["event"] for line in told(done).splitlines()]
    assert events == ["fetch_begun", "dump_fetched", "fetch_ended"]


def test_a_command_imports_no_other_command() -> None:
    code = (
        "import sys; from ipmicra.cli.main import CommandTable; CommandTable()['info']; "
        "print(*(name for name in CommandTable() if f'ipmicra.cli.{name}' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    assert done.stdout.split() == ["info"]
