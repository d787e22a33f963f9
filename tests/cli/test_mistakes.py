"""What users get wrong, command by command: a code, a line that says what to do, and never a traceback."""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ipmicra.cli.main import command_names, group_names, run
from tests.cli.prepared import Prepared, prepared

UNREADABLE = "/proc/self/mem"
"""A file that anybody may open and nobody can read from its start, not even root."""
NOWHERE = "/proc/nowhere"
"""A folder that nobody can make."""

MISTAKES: dict[str, list[tuple[str, int, str]]] = {
    "demo": [
        ("demo -o {folder}/none/demo.html", 2, "no folder"),
        ("demo --dumps {folder}/none", 2, "does not exist"),
        ("demo --dumps {empty_folder} -o {folder}/demo.html", 2, "no dumps in"),
        ("demo --home {home}", 2, "new or empty folder"),
        ("demo --sites 3", 2, "3"),
    ],
    "fetch": [
        ("fetch nobody", 2, "unknown registry 'nobody'"),
        ("fetch ripe --base-url ftp://x", 2, "http://"),
        ("fetch --kind weather", 2, "weather"),
        ("fetch ripe --to {dump}", 2, "is a file"),
        ("fetch iana --base-url http://127.0.0.1:1 --to " + NOWHERE, 1, "cannot write"),
    ],
    "build": [
        ("build", 2, "DUMP..."),
        ("build {folder}/none.db -o {folder}/x.ipm", 1, "no such file"),
        ("build {folder} -o {folder}/x.ipm", 1, "a folder; name its dumps"),
        ("build {garbage} -o {folder}/x.ipm", 1, "garbage"),
        ("build {empty} -o {folder}/x.ipm", 1, "empty"),
        (f"build {UNREADABLE} -o {{folder}}/x.ipm", 1, "mem"),
        (f"build {{dump}} -o {NOWHERE}/x.ipm", 1, NOWHERE),
        ("build {dump} -o {folder}", 1, "{folder}"),
        ("build {dump} -o {folder}/x.ipm --jobs many", 2, "many"),
        (f"build {{dump}} -o {{folder}}/x.ipm --findings {NOWHERE}/f", 1, NOWHERE),
    ],
    "info": [
        ("--home {empty_folder} info", 1, "ipmicra demo"),
        ("info {folder}", 1, "ipmicra build"),
        ("info {broken}", 1, "broken.ipm"),
        ("info {empty}", 1, "empty"),
        ("info {garbage}", 1, "garbage"),
        (f"info {UNREADABLE}", 1, "mem"),
        ("--home {home} info --format yaml", 2, "yaml"),
    ],
    "lookup": [
        ("--home {empty_folder} lookup 10.0.0.1", 1, "ipmicra build"),
        ("--home {home} lookup 10.0.0.999", 1, "10.0.0.999"),
        ("--home {home} lookup 10.0.0.0/99", 1, "10.0.0.0/99"),
        ("--home {home} lookup {folder}", 2, "{folder}"),
        ("--home {home} lookup {folder}/none.txt", 2, "there is no file"),
        ("--home {home} lookup {empty}", 2, "there are no seeds"),
        ("--home {home} lookup ''", 2, "a seed is empty"),
        (f"--home {{home}} lookup {UNREADABLE}", 2, "mem"),
        ("--home {home} lookup", 2, "TARGET"),
        ("--home {home} lookup {dump} -o {folder}/x.parquet", 2, "-o adds columns to one file or folder"),
        ("--home {home} lookup {folder}/none.parquet -o {folder}/x.parquet", 2, "none.parquet"),
        ("--home {home} lookup {empty_folder} -o {folder}/x", 2, ".parquet"),
        ("--home {home} lookup 10.0.0.1 --column ip", 2, "go with -o"),
        ("lookup 10.0.0.1 --hierarchy {broken}", 1, "broken.ipm"),
        ("--home {home} lookup 10.0.0.1 --json --format csv", 2, "exclude each other"),
    ],
    "org": [
        ("--home {empty_folder} org x", 1, "ipmicra build"),
        ("--home {home} org nobody-has-this", 1, "no organisation"),
        ("--home {home} org x --limit 0", 2, "limit"),
    ],
    "diff": [
        ("diff {folder}/none.ipm {folder}/none.ipm", 1, "ipmicra build"),
        ("diff {hierarchy} {broken}", 1, "broken.ipm"),
        ("diff {hierarchy}", 2, "NEW"),
    ],
    "locate": [
        ("locate 10.0.0.1 --offline --heuristics stars", 2, "stars"),
        ("locate 10.0.0.1 --offline --hierarchy {folder}/none.ipm", 1, "ipmicra build"),
        ("locate 10.0.0.1 --offline --table {folder}/none.csv", 2, "none.csv"),
        ("locate 10.0.0.1 --offline --geofeed {folder}", 2, "{folder}"),
        ("locate 10.0.0.1 --offline --samples {folder}/none.csv", 2, "--crawlers"),
        ("--home {home} locate ..", 2, ".."),
    ],
    "crawler add": [
        ("--home {home} crawler add x 10.0.0.999", 2, "10.0.0.999"),
        ("--home {home} crawler add 'a b' 10.0.0.1", 2, "a b"),
        ("--home {home} crawler add x 10.0.0.1 --latitude 95 --longitude 0", 2, "95"),
        ("--home {home} crawler add x 10.0.0.1 --agent-url ftp://x", 2, "ftp://x"),
        ("--home {home} crawler add x 10.0.0.1 --label nothing", 2, "nothing"),
        ("--home {home} crawler add {crawler} 10.0.0.1", 2, "--replace"),
        ("crawler add x 10.0.0.1 --store {newer}", 1, "newer"),
        ("crawler add x", 2, "ADDRESS"),
    ],
    "crawler list": [
        ("crawler list --store {newer}", 1, "newer"),
        ("crawler list --store {garbage}", 1, "garbage"),
        ("crawler list --store {folder}", 1, "{folder}"),
        ("crawler list --store oracle://x", 2, "sqlite:///FILE"),
        ("crawler list --store postgresql://u:secret@127.0.0.1:1/x", 1, "start it or wait"),
        ("crawler list --store postgresql://u:secret@[x/y", 2, "postgresql://USER@HOST"),
        ("--home {dump} crawler list", 1, "{dump}"),
        (f"--home {NOWHERE} crawler list", 1, NOWHERE),
    ],
    "crawler measure": [
        ("--home {home} crawler measure nobody", 2, "nobody"),
        ("--home {folder}/none crawler measure", 2, "fewer than two crawlers"),
        ("--home {home} crawler measure --port 0", 2, "0"),
    ],
    "crawler drain": [
        ("--home {home} crawler drain nobody", 2, "no crawler named 'nobody'"),
        ("--home {home} crawler drain", 2, "NAME"),
    ],
    "crawler remove": [
        ("--home {home} crawler remove nobody", 2, "nobody"),
        ("--home {home} crawler remove", 2, "NAME"),
        ("--home {home} crawler remove {crawler} --now", 2, "ipmicra serve"),
    ],
    "crawler import": [
        ("--home {home} crawler import {folder}/none.toml", 2, "none.toml"),
        ("--home {home} crawler import {folder}", 2, "{folder}"),
        ("--home {home} crawler import {broken_toml}", 2, "broken.toml"),
        ("--home {home} crawler import {empty_csv}", 2, "empty.csv"),
        ("--home {home} crawler import {dump}", 2, ".toml"),
    ],
    "serve": [
        ("serve", 1, "ipmicra build"),
        ("--home {home} serve --listen nowhere", 2, "HOST:PORT"),
        ("--home {home} serve --listen 203.0.113.1:1", 1, "cannot listen on"),
        ("--home {home} serve --listen 127.0.0.1:0 --tls-cert {empty}", 2, "go together"),
        ("--home {home} serve --listen 127.0.0.1:0 --policy magic", 2, "no policy 'magic'"),
        ("--home {home} serve --listen 127.0.0.1:0 --store {newer}", 1, "newer ipmicra"),
        ("--home {home} serve --listen 127.0.0.1:0 --hierarchy {broken}", 1, "broken.ipm"),
        ("--home {home} serve --listen 127.0.0.1:0 --rules {garbage}", 2, "garbage"),
    ],
    "agent": [
        ("agent", 2, "--token-file"),
        ("agent --token-file {folder}/none", 1, "none"),
        ("agent --token-file {empty}", 2, "no token"),
        ("agent --token-file {dump} --listen 127.0.0.1:0", 2, "openssl rand"),
        ("agent --token-file {token} --listen nowhere", 2, "HOST:PORT"),
        ("agent --token-file {token} --listen 127.0.0.1:{taken_port}", 1, "cannot listen"),
        ("agent --token-file {token} --opt-out {folder}/none", 2, "none"),
        ("agent --token-file {token} --tls-cert {dump}", 2, "--tls-key"),
        ("agent --token-file {token} --tls-cert {dump} --tls-key {dump}", 2, "cannot start"),
        ("agent --token-file {token} --source 999.0.0.1", 2, "999.0.0.1"),
        ("agent --token-file {token} --allow 10.0.0.0/99", 2, "10.0.0.0/99"),
        ("agent --concurrency none", 2, "none"),
        ("agent --join nonsense", 2, "no join token"),
        ("agent --join-file {dump}", 2, "no join token"),
        ("agent --join-file {folder}/none", 1, "none"),
        ("agent --identity {folder}/nobody.json", 2, "--join-file"),
        ("--home {empty_folder} agent --leave", 2, "--identity"),
    ],
    "token add": [
        ("--home {home} token add fra --role join", 2, "--url"),
        ("--home {home} token add fra --role agent", 2, "--role join"),
        ("--home {home} token add 'a b' --role operator", 2, "a b"),
        ("--home {home} token add fra --role king", 2, "king"),
        ("--home {home} token add fra --role join --url http://c.example", 2, "clear text"),
        ("--home {home} token add fra --role join --url https://c.example --cert {dump}", 2, "PEM"),
    ],
    "store info": [
        ("store info --store {newer}", 1, "newer"),
        ("--home {empty_folder} store info", 1, "no such store"),
    ],
    "store copy": [
        ("store copy {folder}/none.db {folder}/to.db", 1, "no such store"),
        ("store copy {newer} {folder}/to.db", 1, "newer"),
        ("store copy oracle://x {folder}/to.db", 2, "postgresql://USER@HOST/DATABASE"),
        ("store copy {newer}", 2, "TO"),
    ],
    "store backup": [
        ("--home {home} store backup {dump}", 2, "--replace"),
        ("--home {empty_folder} store backup {folder}/b.db", 1, "no such store"),
    ],
    "store prune": [
        ("--home {home} store prune --sample-days -1", 2, "-1"),
        ("--home {empty_folder} store prune", 1, "no such store"),
    ],
    "token list": [("token list --store {newer}", 1, "newer")],
    "token revoke": [("--home {home} token revoke nobody", 2, "nobody")],
    "probe": [
        ("--home {home} probe 10.0.0.1 --from nobody", 2, "nobody"),
        ("--home {empty_folder} probe 10.0.0.1 --from all", 2, "ipmicra crawler add"),
        ("--home {home} probe 10.0.0.1 --allow 10.0.0.0/99", 2, "10.0.0.0/99"),
        ("--home {home} probe 10.0.0.1 --token-file {folder}/none", 1, "none"),
        ("--home {home} probe 10.0.0.1 --samples 0", 2, "samples"),
        ("--home {home} probe http://10.0.0.999/", 1, "10.0.0.999"),
        ("probe 10.0.0.1 --store {newer}", 1, "newer"),
    ],
    "delegate": [
        ("--home {empty_folder} delegate 10.0.0.1", 1, "ipmicra build"),
        ("--home {home} delegate", 2, "SEEDS"),
        ("--home {home} delegate 10.0.0.1 --policy best", 2, "predict"),
        ("--home {home} delegate 10.0.0.1 --threshold-ms much", 2, "much"),
        ("--home {home} delegate 10.0.0.1 --location {folder}/none.csv --token-file {token}", 2, "none.csv"),
        ("--home {home} delegate 10.0.0.1 --anycast {folder}/none --token-file {token}", 2, "none"),
        ("--home {home} delegate 10.0.0.1 --store {empty_folder}/new.db", 2, "ipmicra crawler add"),
        ("--home {home} delegate 10.0.0.1 --store {newer}", 1, "newer"),
        ("--home {home} delegate 10.0.0.1", 1, "token"),
        ("delegate 10.0.0.1 --hierarchy {broken}", 1, "broken.ipm"),
        (f"--home {{home}} delegate {UNREADABLE} --token-file {{token}}", 2, "mem"),
    ],
    "explain": [
        ("--home {empty_folder} explain 10.0.0.1", 1, "ipmicra build"),
        ("--home {home} explain 10.0.0.999", 2, "10.0.0.999"),
        ("--home {home} explain 203.0.113.77", 1, ""),
    ],
    "forget": [
        ("--home {home} forget", 2, "--policy"),
        ("--home {home} forget 10.0.0.1 --policy hash", 2, "both"),
        ("--home {home} forget --policy best", 2, "predict"),
        ("--home {home} forget 10.0.0.999", 2, "10.0.0.999"),
        ("--home {home} forget never.example", 1, "nothing is known of never.example"),
    ],
    "assign": [
        ("--home {home} assign 10.0.0.1 --backend best", 2, "balance"),
        ("--home {home} assign 10.0.0.1 --pages {folder}/none.csv", 2, "none.csv"),
        ("--home {home} assign 10.0.0.1 --pages {garbage}", 2, "garbage"),
        ("--home {home} assign 10.0.0.1 --urls {folder}/none", 2, "none"),
        ("--home {empty_folder} assign 10.0.0.1", 2, "ipmicra crawler add"),
        ("--home {home} assign 10.0.0.1 --pieces 0", 2, "pieces"),
    ],
    "export": [
        ("--home {home} export", 2, "--for"),
        ("--home {home} export --for wget", 2, "urlfrontier"),
        ("--home {home} export --for crawlee", 2, "ipmicra.crawlee"),
        ("--home {home} export --for nutch", 2, "name a folder with -o"),
        ("--home {home} export --for seeds", 2, "--crawler"),
        ("--home {home} export --for seeds --crawler nobody", 2, "no crawler 'nobody'"),
        ("--home {home} export --for nutch -o {dump}", 2, "is a file"),
        ("--home {home} export --for browsertrix --proxy fra", 2, "CRAWLER=URL"),
        ("--home {home} export --for csv {folder}/none.txt", 2, "there is no file"),
        (f"--home {{home}} export --for csv -o {NOWHERE}/x.csv", 1, NOWHERE),
        ("export --for csv --store {newer}", 1, "newer"),
    ],
    "divert": [
        ("divert", 2, "FOLDER"),
        ("--home {home} divert {folder}", 2, "nowhere to carry to"),
        ("--home {home} divert {folder} --to nyc", 2, "CRAWLER=FOLDER"),
        ("--home {home} divert {folder} --to nyc={folder}/missing", 2, "there is no folder"),
        ("--home {home} divert {folder}/missing --to nyc={folder}", 2, "diversionDir"),
    ],
    "frontier": [
        ("--home {home} frontier", 2, "--upstream"),
        ("--home {home} frontier --upstream x", 2, "HOST:PORT"),
        ("--home {home} frontier --upstream 127.0.0.1:7071 --listen 127.0.0.1:99999", 2, "HOST:PORT"),
        ("--home {home} frontier --upstream 127.0.0.1:7071", 2, "ipmicra serve"),
        (f"--coordinator http://127.0.0.1:1 frontier --upstream 127.0.0.1:1 --held {NOWHERE}/x", 1, NOWHERE),
        (
            "--coordinator http://a:1 frontier --upstream a:1 --held {folder}/h --listen 192.0.2.1:1",
            2,
            "listen",
        ),
    ],
    "report": [
        ("report", 2, "RESULTS"),
        ("report {folder}/none.csv --crawlers {world}/crawlers.csv -o {folder}/r.html", 2, "none.csv"),
        ("report {garbage} --crawlers {world}/crawlers.csv -o {folder}/r.html", 2, "garbage"),
        ("report {empty} --crawlers {world}/crawlers.csv -o {folder}/r.html", 2, "empty"),
        ("report {folder} --crawlers {world}/crawlers.csv -o {folder}/r.html", 2, "{folder}"),
        ("report --world {folder}/none -o {folder}/r.html", 2, "none"),
        ("report --world {empty_folder} -o {folder}/r.html", 2, "crawlers.csv"),
        (f"report --world {{world}} -o {NOWHERE}/r.html", 1, NOWHERE),
    ],
    "evaluate": [
        ("--home {home} evaluate {folder}/none", 2, "none"),
        ("--home {home} evaluate {dump}", 2, "{dump}"),
        ("--home {home} evaluate {empty_folder}", 2, "crawlers.csv"),
        ("--home {home} evaluate {world} --hierarchy {folder}/none.ipm", 1, "ipmicra build"),
        ("--home {home} evaluate {world} --policy best", 2, "predict"),
        ("--home {home} evaluate {world} --location mars", 2, "mars"),
        ("--home {home} evaluate {world} --seeds 0", 2, "seeds"),
        ("--home {home} evaluate {world} --train 999", 2, "999"),
        ("--home {home} evaluate {world} --plot {folder}/p.docx", 2, "docx"),
    ],
    "partition": [
        ("partition", 2, "--sites"),
        ("partition --world {folder}/none", 2, "none"),
        ("partition --world {world} --method best", 2, "best"),
        ("partition --world {world} --grain sand", 2, "address, subnet"),
        ("partition --world {world} --assigned mine", 2, "NAME=FILE"),
        ("partition --world {world} --assigned mine={folder}/none.csv", 2, "none.csv"),
        ("partition --world {world} --links {folder}/none.csv", 2, "none.csv"),
        ("partition --sites {garbage} --parts 3", 2, "garbage"),
        ("partition a.example", 2, "ipmicra crawler add"),
        ("partition a.example --parts 2 --leave mars", 2, "crawler-01, crawler-02"),
        ("partition a.example --parts 2 --logical {garbage} -m two-level", 2, "garbage"),
        ("partition a.example --parts 2 --networks {garbage}", 2, "garbage"),
        ("partition a.example --store {folder}/none.db", 2, "no such store"),
        ("partition --sites {folder}/none.csv --parts 3", 2, "none.csv"),
        (f"partition --world {{world}} -m hash -o {NOWHERE}/p.csv", 1, NOWHERE),
    ],
    "simulate splitting": [
        ("simulate splitting --scheme XX", 2, "XX"),
        ("simulate splitting --population {folder}/none.npz", 2, "none.npz"),
        ("simulate splitting --population {garbage}", 2, "garbage"),
        ("simulate splitting --half bigger", 2, "holding"),
        ("simulate splitting --cut bigger", 2, "median"),
        ("simulate splitting --seeds 0", 2, "seeds"),
    ],
    "simulate delegation": [
        ("simulate delegation --policy best", 2, "predict"),
        ("simulate delegation --hierarchy high", 2, "deep, flat"),
        ("simulate delegation --sites 20 --train 20", 2, "leave none"),
        ("simulate delegation --seeds 0", 2, "seeds"),
    ],
    "simulate pieces": [
        ("simulate pieces --links {folder}/none.csv", 2, "none.csv"),
        ("simulate pieces --links {garbage}", 2, "garbage"),
        ("simulate pieces --most 1", 2, "most"),
    ],
    "simulate variation": [
        ("simulate variation --measurements {folder}/none.csv", 2, "none.csv"),
        ("simulate variation --measurements {garbage}", 2, "garbage"),
    ],
    "rules": [
        ("--home {home} rules", 2, "rules.txt"),
        ("--home {home} rules --rules {folder}/none.txt", 2, "none.txt"),
        ("--home {home} rules --rules {garbage}", 2, "these rules cannot be read"),
    ],
    "simulate coordinates": [
        ("simulate coordinates --small-test --matrix {matrix}", 2, "world of its own"),
        ("simulate coordinates --matrix {folder}/none.npz", 2, "none.npz"),
        ("simulate coordinates --matrix {garbage}", 2, "garbage"),
        ("simulate coordinates --matrix {folder}", 2, "{folder}"),
        ("simulate coordinates --matrix {matrix} --method best --crawlers 20 --landmarks 8", 2, "best"),
        ("simulate coordinates --matrix {matrix} --crawlers 900", 2, "900"),
    ],
    "simulate crawl": [
        ("simulate crawl --sites 1", 2, "4<=x<=200"),
        ("simulate crawl --experiment best", 2, "two-nodes"),
    ],
    "crawl": [
        ("crawl", 2, "nothing to crawl"),
        ("crawl {folder}/none.txt", 2, "there is no file"),
        ("crawl example.org --node a/b", 2, "a/b"),
        ("--home {home} crawl --crawler nobody", 2, "no site is assigned to nobody"),
    ],
    "simulate churn": [
        ("simulate churn --scheme best", 2, "best"),
        ("simulate churn --matrix {folder}/none.npz", 2, "none.npz"),
        ("simulate churn --matrix {garbage}", 2, "garbage"),
        ("simulate churn --steps 0", 2, "steps"),
    ],
    "simulate partition": [
        ("simulate partition --parts many", 2, "many"),
        ("simulate partition --sites {folder}/none.csv", 2, "none.csv"),
        ("simulate partition --relocation lost", 2, "received"),
        ("simulate partition --experiment magic", 2, "magic"),
    ],
}
"""For each command: words, the code it ends with, and what standard error names."""
CASES = [(command, *case) for command, cases in MISTAKES.items() for case in cases]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    with (
        prepared(tmp_path_factory.mktemp("mistakes")) as ready,
        socket.create_server(("127.0.0.1", 0)) as taken,
    ):
        yield _places(ready) | {"taken_port": taken.getsockname()[1]}


def _places(ready: Prepared) -> dict[str, object]:
    folder = ready.folder
    hierarchy = ready.home / "hierarchy.ipm"
    made = {
        "garbage": os.urandom(4096),
        "empty": b"",
        "empty.csv": b"",
        "broken.toml": b"[[crawler]\nname=",
        "broken.ipm": hierarchy.read_bytes()[:1000],
    }
    for name, content in made.items():
        (folder / name).write_bytes(content)
    (folder / "nothing").mkdir()
    with closing(sqlite3.connect(folder / "newer.db")) as newer:
        newer.execute("CREATE TABLE migrations (number INTEGER, name TEXT, at_s REAL)")
        newer.execute("INSERT INTO migrations VALUES (999, 'to come', 0)")
        newer.commit()
    return {
        "folder": folder,
        "home": ready.home,
        "hierarchy": hierarchy,
        "dump": folder / "a.db",
        "world": folder / "world",
        "matrix": folder / "matrix.npz",
        "token": folder / "token",
        "crawler": next(iter(ready.internet.crawlers)),
        "empty_folder": folder / "nothing",
        "newer": folder / "newer.db",
        **{name.replace(".", "_").removesuffix("_ipm"): folder / name for name in made},
    }


def test_every_command_has_its_mistakes() -> None:
    assert set(MISTAKES) == set(command_names()) - set(group_names())


@pytest.mark.skipif(sys.platform != "linux", reason="some files are there on Linux only")
@pytest.mark.parametrize(("command", "words", "code", "named"), CASES, ids=[case[1] for case in CASES])
def test_mistake_ends_with_a_code_and_a_line_that_helps(
    command: str,
    words: str,
    code: int,
    named: str,
    places: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["ipmicra", *_split(words, places)])
    monkeypatch.delenv("IPMICRA_AGENT_TOKEN", raising=False)
    monkeypatch.setenv("IPMICRA_HOME", str(places["empty_folder"]))
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as end:
        run()
    said = capfd.readouterr().err
    assert end.value.code == code, said
    assert named.format(**places) in said
    assert "Traceback" not in said
    assert "fault of ipmicra" not in said
    lines = [line for line in said.splitlines() if not line.startswith(("Usage:", "Try "))]
    assert len([line for line in lines if line.strip()]) <= 4, said
    Path(str(places["empty_folder"]), "state.db").unlink(missing_ok=True)


def _split(words: str, places: dict[str, object]) -> list[str]:
    import shlex

    return [word.format(**places) for word in shlex.split(words)]
