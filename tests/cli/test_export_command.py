"""`ipmicra export`, as a user calls it: from a home, and from a running coordinator."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import grpc.aio
import pytest

from ipmicra.edge.frontier.messages import PUT_URLS, AckMessage
from ipmicra.edge.store.store import Store
from tests.cli.command_line import built_file, ran, told
from tests.export_worlds import SITES, fill
from tests.patience import PATIENCE_S
from tests.servers.coordinator import RunningCoordinator
from tests.servers.frontier import SmallFrontier, discovered, until


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    with Store.open(str(folder / "state.db")) as store:
        fill(store)
    return folder


@pytest.fixture(scope="module")
def coordinator(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCoordinator]:
    """A coordinator of the same sites, in a home of its own."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "state.db").write_bytes((home / "state.db").read_bytes())
    built_file(folder, name="hierarchy.ipm")
    with RunningCoordinator(folder, "--location", "none") as running:
        yield running


def test_one_file_goes_to_standard_output_and_what_is_left_out_to_standard_error(home: Path) -> None:
    done = ran("--home", home, "export", "--for", "urlfrontier")
    assert done.returncode == 3
    assert len([json.loads(line) for line in done.stdout.splitlines()]) == 13
    said = told(done).splitlines()
    assert len(said) == 3
    assert said[1] == "left out 1 (nobody.example): rules leave no crawler"


def test_files_of_a_program_go_to_a_folder(home: Path, tmp_path: Path) -> None:
    done = ran("--home", home, "export", "--for", "heritrix", "a.example", "-o", tmp_path / "h")
    assert done.returncode == 0, told(done)
    assert done.stdout == b""
    assert told(done) == f"1 sites: 4 files in {tmp_path / 'h'}\n"
    assert (tmp_path / "h" / "seeds-fra.txt").read_text() == "https://a.example/\n"
    assert (tmp_path / "h" / "seeds-nyc.txt").read_text() == ""
    assert (tmp_path / "h" / "crawlers.map").read_text().splitlines()[-1] == "~ DEFAULT"


def test_empty_home_says_what_to_do_first(tmp_path: Path) -> None:
    done = ran("--home", tmp_path, "export", "--for", "csv", "-o", tmp_path / "a.csv")
    assert done.returncode == 0
    assert "ipmicra delegate" in told(done)


def test_coordinator_exports_the_same_as_its_store(
    home: Path, coordinator: RunningCoordinator, tmp_path: Path
) -> None:
    for name in ("nutch", "heritrix", "plain"):
        here, there = tmp_path / name, tmp_path / f"{name}-remote"
        local = ran("--home", home, "export", "--for", name, "-o", here)
        remote = ran("--home", coordinator.home, "export", "--for", name, "-o", there)
        assert told(remote).replace("-remote", "") == told(local)
        assert files(there) == files(here)


def files(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def test_api_serves_the_same_bytes_with_a_tag_until_something_changes(
    home: Path, coordinator: RunningCoordinator
) -> None:
    for name in (
        "csv",
        "jsonl",
        "parquet",
        "hosts",
        "urlfrontier",
        "heritrix-map",
        "nutch-hosts",
        "browsertrix",
    ):
        local = ran("--home", home, "export", "--for", name).stdout
        answer = coordinator.get("/v1/export", format=name)
        assert answer.status_code == 200, answer.text
        assert answer.content == local, name
        again = coordinator.ask(
            "GET", "/v1/export", params={"format": name}, headers={"If-None-Match": answer.headers["ETag"]}
        )
        assert (again.status_code, again.content) == (304, b"")
    seeds = coordinator.get("/v1/export", format="seeds", crawler="fra")
    assert seeds.content == ran("--home", home, "export", "--for", "seeds", "--crawler", "fra").stdout
    refused = coordinator.get("/v1/export", format="seeds")
    assert refused.status_code == 400
    assert "crawler" in refused.json()["detail"]


def test_api_lists_what_a_format_leaves_out(coordinator: RunningCoordinator) -> None:
    answer = coordinator.get("/v1/export", format="heritrix-map", left_out="true")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert {"reason": "rules leave no crawler", "sites": 1, "examples": ["nobody.example"]} in lines
    assert len(lines) == 5


def test_proxy_gives_urls_to_the_owners_that_the_coordinator_names(coordinator: RunningCoordinator) -> None:
    """`ipmicra frontier` between a client and a service; interrupted, it stops and keeps its file."""

    async def scenario() -> None:
        async with SmallFrontier().running() as small:
            words = ["--home", str(coordinator.home), "--log-format", "json", "frontier"]
            words += ["--upstream", f"127.0.0.1:{small.port}", "--listen", "127.0.0.1:0"]
            async with asyncio.timeout(PATIENCE_S):
                process, place = await started_proxy(*words)
                async with grpc.aio.insecure_channel(place) as channel:
                    urls = ["https://a.example/x", "http://many.example/", "http://big.example/news/1"]
                    call = channel.stream_stream(PUT_URLS)()
                    for url in urls:
                        await call.write(discovered(url).SerializeToString())
                    await call.done_writing()
                    acks = {AckMessage.FromString(await call.read()).ID for _ in urls}
                process.terminate()
                said = (await process.communicate())[1].decode()
            assert acks == set(urls)
            assert process.returncode == 0, said
            assert small.urls() == {
                "https://a.example/x": {("fra", "192.0.2.0/25")},
                "http://many.example/": {("fra", "203.0.113.0/24"), ("nyc", "203.0.113.0/24")},
                "http://big.example/news/1": {("fra", "192.0.2.0/24")},
            }

    asyncio.run(scenario())
    assert (coordinator.home / "frontier-held.db").is_file()


def test_urls_that_a_killed_proxy_held_are_delivered_by_the_next(
    coordinator: RunningCoordinator, tmp_path: Path
) -> None:
    """Held while there is no coordinator; the proxy is killed, and its successor has one to ask."""
    held = tmp_path / "held.db"

    async def scenario() -> None:
        async with SmallFrontier().running() as small, asyncio.timeout(PATIENCE_S):
            upstream = [
                "--upstream",
                f"127.0.0.1:{small.port}",
                "--listen",
                "127.0.0.1:0",
                "--held",
                str(held),
            ]
            nowhere = ["--home", str(tmp_path), "--coordinator", "http://127.0.0.1:1"]
            process, place = await started_proxy(*nowhere, "--log-format", "json", "frontier", *upstream)
            async with grpc.aio.insecure_channel(place) as channel:
                call = channel.stream_stream(PUT_URLS)()
                await call.write(discovered("https://a.example/kept").SerializeToString())
                await until(lambda: count_held(held))
                process.kill()
                await process.communicate()
            assert small.queues == {}
            home = ["--home", str(coordinator.home), "--log-format", "json"]
            process, _ = await started_proxy(*home, "frontier", *upstream)
            await until(small.urls)
            await until(lambda: not count_held(held))  # once the other side has acknowledged it
            process.terminate()
            await process.communicate()
            assert small.urls() == {"https://a.example/kept": {("fra", "192.0.2.0/25")}}

    asyncio.run(scenario())


async def started_proxy(*words: str) -> tuple[asyncio.subprocess.Process, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ipmicra", *words), stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    return process, json.loads(await process.stderr.readline())["place"]


def count_held(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        found: int = connection.execute("SELECT count(*) FROM held").fetchone()[0]
        return found


def test_diverted_urls_go_to_the_owners_that_the_coordinator_names(
    coordinator: RunningCoordinator, tmp_path: Path
) -> None:
    (tmp_path / "action").mkdir()
    hosts = ("a.example", "many.example", "example.org")
    lines = "".join(f"null CrawlURI http://{host}/ L http://c.example/\n" for host in hosts)
    (tmp_path / "202611172305-nyc-to-DEFAULT.divert").write_text(lines)
    done = ran("--home", coordinator.home, "divert", tmp_path, "--to", f"fra={tmp_path / 'action'}")
    assert done.returncode == 3
    said = told(done)
    assert said.startswith("0 files: 1 URLs to fra\n")
    assert "left out 1 (many.example): eu, us" in said
    assert "--to ath=FOLDER" in said
    made = tmp_path / "action" / "202611172305-nyc-to-DEFAULT-fra.s.schedule"
    assert made.read_text() == "F+ http://a.example/ L http://c.example/\n"


def test_tag_changes_when_a_site_is_forgotten(coordinator: RunningCoordinator) -> None:
    before = coordinator.get("/v1/export", format="jsonl")
    done = coordinator.ask("POST", "/v1/forget", json={"targets": ["alone.example"]})
    assert done.status_code == 200, done.text
    after = coordinator.get("/v1/export", format="jsonl")
    assert after.headers["ETag"] != before.headers["ETag"]
    assert after.text.count("\n") == before.text.count("\n") - 1 == len(SITES) + 1
