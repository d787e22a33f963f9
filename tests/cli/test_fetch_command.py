"""`ipmicra fetch` as a user meets it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from ipmicra.app.fetch import FetchReport
from ipmicra.cli.fetch import fetch
from ipmicra.model.dump_source import DUMP_SOURCES
from tests.cli.terminal import Terminal
from tests.patience import PATIENCE_S, wait_until
from tests.servers.dump_server import DumpServer, Mood

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.testing import Result

ROOT = Path(__file__).parents[2]
PROGRAM = """
import typer
from ipmicra.cli.fetch import fetch
app = typer.Typer()
app.command()(fetch)
app()
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DumpServer]:
    """A server that has every dump, its name as its content."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("IPMICRA_ARIN_KEY", raising=False)
    with DumpServer() as server:
        for source in DUMP_SOURCES:
            server.publish(f"/{source.name}", source.name.encode())
        yield server


def run(*arguments: str | Path) -> Result:
    app = typer.Typer()
    app.command()(fetch)
    app.command("other")(lambda: None)
    return CliRunner().invoke(app, ["fetch", *map(str, arguments)])


def command(server: DumpServer, folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "--base-url", server.url, "--to", str(folder), *more]


def test_all_dumps_are_fetched_and_listed_on_standard_output(server: DumpServer, tmp_path: Path) -> None:
    result = run("--to", tmp_path, "--base-url", server.url, "--format", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [(row["status"], row["name"]) for row in rows] == [
        ("downloaded", source.name) for source in DUMP_SOURCES
    ]
    assert all(Path(row["path"]).stat().st_size == int(row["bytes_total"]) for row in rows)


def test_second_run_finds_nothing_changed(server: DumpServer, tmp_path: Path) -> None:
    run("ripe", "--to", tmp_path, "--base-url", server.url)
    result = run("ripe", "--to", tmp_path, "--base-url", server.url)
    assert result.exit_code == 0
    assert {row["status"] for row in json.loads(result.stdout)} == {"unchanged"}


def test_json_has_a_row_for_each_dump(server: DumpServer, tmp_path: Path) -> None:
    result = run("ripe", "--kind", "statistics", "--to", tmp_path, "--base-url", server.url, "--json")
    name = "delegated-ripencc-extended-latest"
    assert json.loads(result.stdout) == [
        {
            "name": name,
            "registry": "ripe",
            "kind": "statistics",
            "status": "downloaded",
            "path": str(tmp_path / name),
            "bytes_received": len(name),
            "bytes_total": len(name),
            "checksum": None,
            "reason": None,
        }
    ]


def test_some_failures_are_done_in_part(server: DumpServer, tmp_path: Path) -> None:
    del server.files["/ripe.db.inetnum.gz"]
    result = run("ripe", "--to", tmp_path, "--base-url", server.url, "--json")
    assert result.exit_code == 3
    status = {row["name"]: row["status"] for row in json.loads(result.stdout)}
    assert status["ripe.db.inetnum.gz"] == "failed"
    assert status["ripe.db.inet6num.gz"] == "downloaded"
    assert "failed: ripe.db.inetnum.gz: http://127.0.0.1" in result.stderr
    assert "404 (Not Found)" in result.stderr
    assert "run the same command again" in result.stderr


def test_nothing_but_failures_is_failed(server: DumpServer, tmp_path: Path) -> None:
    server.files.clear()
    result = run("iana", "--to", tmp_path, "--base-url", server.url)
    assert result.exit_code == 1
    assert [row["status"] for row in json.loads(result.stdout)] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nic"], "afrinic, apnic, arin, iana, lacnic, ripe"),
        (["ripe", "--kind", "iana"], "no iana dumps of ripe"),
        (["--kind", "gossip"], "gossip"),
        (["--base-url", "ftp://example.org"], "must start with http"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_sent(
    server: DumpServer, tmp_path: Path, arguments: list[str], told: str
) -> None:
    result = run("--base-url", server.url, "--to", tmp_path, *arguments)
    assert result.exit_code == 2
    plain = " ".join(result.stderr.replace("│", " ").split())
    assert told in plain
    assert server.seen == []


def test_list_shows_where_dumps_come_from_and_fetches_nothing(server: DumpServer, tmp_path: Path) -> None:
    result = run("--list", "--json", "--to", tmp_path / "none")
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert set(rows) == {source.name for source in DUMP_SOURCES}
    assert rows["arin_db.zip"]["needs_key"] == "IPMICRA_ARIN_KEY"
    assert rows["arin_db.zip"]["url"].endswith("?apikey={key}")
    assert result.exit_code == 0
    assert not (tmp_path / "none").exists()


def test_table_has_a_line_for_each_dump() -> None:
    head, *lines = run("ripe", "--list", "--format", "table").stdout.splitlines()
    assert head.split() == ["name", "registry", "kind", "url", "note"]
    assert lines[0].split()[:3] == ["ripe.db.inetnum.gz", "ripe", "whois"]
    assert len(lines) == 4


def test_key_is_never_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPMICRA_ARIN_KEY", "API-1111")
    result = run("arin", "--list", "--json")
    assert "API-1111" not in result.stdout + result.stderr


def test_arins_bulk_dump_by_name_asks_for_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IPMICRA_ARIN_KEY", raising=False)
    result = run("arin", "--kind", "whois", "--to", tmp_path)
    assert result.exit_code == 1
    assert "set IPMICRA_ARIN_KEY" in result.stderr


def test_dump_left_out_for_want_of_a_key_is_told_but_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IPMICRA_ARIN_KEY", raising=False)
    nothing = FetchReport(results=(), failures=())
    monkeypatch.setattr("ipmicra.app.fetch.fetch_many", lambda *_, **__: nothing)
    result = run("--kind", "whois", "--to", tmp_path)
    assert result.exit_code == 0
    assert result.stderr == "left out: arin_db.zip: set IPMICRA_ARIN_KEY to fetch it\n"


def test_help_names_the_registries_and_the_key() -> None:
    plain = run("--help").stdout
    assert "IPMICRA_ARIN_KEY" in plain
    assert "afrinic" in plain


def wait_for_part(folder: Path) -> None:
    """Wait until a download is under way."""
    wait_until(lambda: any(path.stat().st_size for path in folder.glob("*.part")), "a part of the download")


def test_interrupt_says_how_to_go_on_and_the_same_command_does(server: DumpServer, tmp_path: Path) -> None:
    body = os.urandom(400_000)
    server.publish("/lacnic.db.gz", body)
    server.expect("/lacnic.db.gz", Mood(stops_after=300_000))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": ROOT, "text": True}
    child = subprocess.Popen(command(server, tmp_path, "lacnic.db.gz"), **pipes)  # type: ignore[call-overload]
    wait_for_part(tmp_path)
    child.send_signal(signal.SIGINT)
    stdout, stderr = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, stdout) == (130, "")
    assert stderr == f"interrupted: what was received is kept in {tmp_path}; run the same command to resume\n"
    result = run("lacnic.db.gz", "--to", tmp_path, "--base-url", server.url)
    assert [(row["status"], row["name"]) for row in json.loads(result.stdout)][:1] == [
        ("resumed", "lacnic.db.gz")
    ]
    assert (tmp_path / "lacnic.db.gz").read_bytes() == body


def test_bars_are_drawn_on_a_terminal_and_leave_standard_output_alone(
    server: DumpServer, tmp_path: Path
) -> None:
    with Terminal() as terminal:
        done = subprocess.run(
            command(server, tmp_path, "iana", "--json"),
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
            stdout=subprocess.PIPE,
            stderr=terminal.end,
            check=True,
            timeout=PATIENCE_S,
        )
    drawn = terminal.shown
    assert [row["status"] for row in json.loads(done.stdout)] == ["downloaded", "downloaded"]
    assert "ipv4-address-space.csv" in drawn
    assert "\x1b[" in drawn
