"""Programs of different versions talk, and open each other's files, or say clearly that they cannot.

What version 0.1.0 wrote into files is in `test_reads_version_0_1_0.py`; here are what it said on the wire, to
real processes, messages that came after it, every step between its store and the one of now, and what is
refused because it is newer.
"""

from __future__ import annotations

import json
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ipmicra.edge.crawls.ledger import SCHEMA, Ledger
from ipmicra.edge.store.connection import ConnectionConfig
from ipmicra.edge.store.migrations import MIGRATIONS, migrate
from ipmicra.edge.store.sqlite import SqliteConnection
from ipmicra.edge.store.store import Store
from ipmicra.errors import CorruptHierarchyError, StoreError, UnknownVersionError
from ipmicra.hierarchy import format as file_format
from ipmicra.wire import joining, links, polling
from ipmicra.wire.fields import read_object
from tests.cli.command_line import ran
from tests.patience import PATIENCE_S
from tests.servers.agent import TOKEN
from tests.servers.agent_process import started_agent
from tests.servers.evil_agent import HEAD, EvilAgent

DATA = Path(__file__).resolve().parents[1] / "data"
EXCHANGE: dict[str, Any] = json.loads((DATA / "0.1.0" / "exchange.json").read_text("utf-8"))
MESSAGES = [json.loads(line) for line in (DATA / "wire-1" / "messages.jsonl").read_text("utf-8").splitlines()]
WAYS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    "join": (joining.decode_join, joining.encode_join),
    "joined": (joining.decode_joined, joining.encode_joined),
    "poll": (polling.decode_poll, polling.encode_poll),
    "polled": (polling.decode_polled, polling.encode_polled),
    "results": (polling.decode_results, polling.encode_results),
    "node join": (links.decode_join, links.encode_join),
    "node joined": (links.decode_joined, links.encode_joined),
    "exchange": (links.decode_exchange, links.encode_exchange),
    "exchanged": (links.decode_exchanged, links.encode_exchanged),
}
OF_0_1_0 = 13
"""Number of the last step of its stores."""


# --- what was said on the wire


def recorded_names() -> tuple[set[str], set[str]]:
    """Names that 0.1.0 knows in an answer and in its timings; it refuses others."""
    answers = [json.loads(line) for line in EXCHANGE["agent"]["lines"]]
    timings = [one["timings"] for one in answers if one.get("timings")]
    return {name for one in answers for name in one}, {name for one in timings for name in one}


def replayed(url: str, request: str, port: int) -> list[dict[str, Any]]:
    """Send what a coordinator of 0.1.0 sent; return the lines of the answer."""
    head, _, body = request.partition("\r\n\r\n")
    body = body.replace("PORT", str(port))
    head = head.replace("TOKEN", TOKEN).replace("LENGTH", str(len(body)))
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 0), timeout=PATIENCE_S) as line:
        line.sendall(f"{head}\r\n\r\n{body}".encode())
        said = b""
        while not said.endswith(b"\r\n0\r\n\r\n"):
            piece = line.recv(65_536)
            assert piece, said
            said += piece
    assert said.startswith(b"HTTP/1.1 200 "), said
    return [json.loads(one) for one in said.splitlines() if one.startswith(b"{")]


def test_agent_answers_a_coordinator_of_0_1_0_in_its_own_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as site:
        port = site.getsockname()[1]
        agent, url = started_agent("--allow", "127.0.0.0/8", "--allow-port", str(port), "--interval-s", "0")
        try:
            lines = replayed(url, EXCHANGE["coordinator"], port)
        finally:
            agent.terminate()
            agent.communicate(timeout=PATIENCE_S)
    *answers, end = lines
    assert end == {"version": 1, "kind": "end", "count": 2}
    fields, timings = recorded_names()
    for answer in answers:
        assert answer["rtt_ms"] is not None
        assert set(answer) <= fields
        assert set(answer["timings"] or ()) <= timings


def test_recorded_agent_of_0_1_0_is_believed(tmp_path: Path) -> None:
    def said(request: dict[str, Any]) -> bytes:
        text = "\n".join(EXCHANGE["agent"]["lines"]).replace("PORT", "80")
        for number, order in enumerate(request["orders"]):
            text = text.replace(f"ORDER-{number}", order["id"])
        return HEAD + text.encode() + b"\n"

    with EvilAgent(said) as agent:
        added = ran("--home", tmp_path, "crawler", "add", "ath", "192.0.2.7", "--agent-url", agent.url)
        assert added.returncode == 0, added.stderr
        words = ("probe", "127.0.0.1", "127.0.0.2", "--from", "all", "--format", "json")
        done = ran("--home", tmp_path, *words, IPMICRA_AGENT_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in EXCHANGE["agent"]["lines"][:2]]
    assert [(one["rtt_ms"], one["all_ms"]) for one in json.loads(done.stdout)] == [
        (one["rtt_ms"], one["all_ms"]) for one in told
    ]


@pytest.mark.parametrize("number", range(len(MESSAGES)))
def test_message_of_version_1_loses_nothing(number: int) -> None:
    """Each was written when its kind was new; what is read from it says the same when it is written again."""
    message = MESSAGES[number]
    decode, encode = WAYS[message["kind"]]
    again = json.loads(encode(decode(message["text"].encode())))
    then = json.loads(message["text"])
    assert {name: again[name] for name in then} == then


def test_every_kind_of_message_is_recorded() -> None:
    assert {message["kind"] for message in MESSAGES} == set(WAYS)


@pytest.mark.parametrize(("version", "step"), [(2, "update ipmicra here"), (0, "update ipmicra where")])
def test_message_of_another_version_is_refused_with_the_next_step(version: int, step: str) -> None:
    with pytest.raises(UnknownVersionError, match=f"version '{version}' .*known: \\[1\\].*{step}"):
        read_object(json.dumps({"version": version}).encode(), 100)


# --- files


def content(path: str) -> dict[str, list[Any]]:
    """All rows of a store but when steps were taken, by table."""
    with closing(sqlite3.connect(path)) as store:
        names = [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: store.execute(f"SELECT * FROM {name}").fetchall() for name in sorted(names)}
    return rows | {"migrations": sorted(row[0] for row in rows["migrations"])}


def test_store_of_every_schema_since_0_1_0_becomes_the_same(tmp_path: Path) -> None:
    """Whoever followed the development may have stopped at any step; rows are those of the store of 0.1.0."""
    straight = str(shutil.copy(DATA / "0.1.0" / "state.db", tmp_path / "straight.db"))
    Store.open(straight).close()
    expected = content(straight)
    for end in range(OF_0_1_0 + 1, len(MIGRATIONS)):
        path = str(shutil.copy(DATA / "0.1.0" / "state.db", tmp_path / f"{end}.db"))
        with closing(SqliteConnection(path, ConnectionConfig(synchronous="OFF"))) as connection:
            migrate(connection, MIGRATIONS[:end])
        Store.open(path).close()
        assert content(path) == expected, MIGRATIONS[end - 1].name


def test_ledger_of_crawls_of_another_version_is_left_alone_with_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "crawls.db"
    Ledger(path).close()
    with closing(sqlite3.connect(path)) as ledger:
        ledger.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(StoreError, match=r"another version of ipmicra .*let its crawls end"):
        Ledger(path)


def test_newer_hierarchy_is_refused_with_the_next_step() -> None:
    data = bytearray((DATA / "0.1.0" / "hierarchy.ipm").read_bytes())
    data[8:10] = (file_format.VERSION + 1).to_bytes(2, "little")
    with pytest.raises(CorruptHierarchyError, match=r"format version 3, this ipmicra reads .*rebuild it"):
        file_format.read_layout(memoryview(data))
