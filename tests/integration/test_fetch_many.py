"""Several dumps at once, from a server on loopback."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from ipmicra.app.fetch import choose, fetch_many
from ipmicra.edge.fetch.options import FetchOptions
from ipmicra.model.dump_source import DumpKind
from tests.patience import PATIENCE_S, wait_until
from tests.servers.dump_server import DumpServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ipmicra.edge.fetch.options import Progress
    from ipmicra.model.dump_source import DumpSource


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DumpServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with DumpServer() as server:
        yield server


def published(server: DumpServer, *names: str, kind: DumpKind | None = None) -> tuple[DumpSource, ...]:
    """Choose dumps and publish each on the server, its name as its content."""
    sources = choose(names, kind=kind, base_url=server.url).sources
    for source in sources:
        server.publish(f"/{source.name}", source.name.encode())
    return sources


def test_each_dump_is_fetched_and_reported_in_order(server: DumpServer, tmp_path: Path) -> None:
    sources = published(server)
    report = fetch_many(sources, tmp_path, sleep=time.sleep)
    assert [result.path.name for result in report.results] == [source.name for source in sources]
    assert all(result.path.read_bytes() == result.path.name.encode() for result in report.results)
    assert report.failures == ()
    again = fetch_many(sources, tmp_path, sleep=time.sleep)
    assert {result.status for result in again.results} == {"unchanged"}


def test_one_failure_does_not_keep_the_others_back(server: DumpServer, tmp_path: Path) -> None:
    sources = published(server, "ripe", "apnic", kind=DumpKind.WHOIS)
    del server.files["/ripe.db.inetnum.gz"]
    report = fetch_many(sources, tmp_path, sleep=time.sleep)
    assert len(report.results) == 5
    (failure,) = report.failures
    assert failure.source.name == "ripe.db.inetnum.gz"
    assert "404" in failure.error.reason


def test_registries_are_served_side_by_side_but_each_one_file_at_a_time(
    server: DumpServer, tmp_path: Path
) -> None:
    """Two registries wait for each other; the dumps of one never overlap."""
    sources = published(server, "ripe", "apnic", kind=DumpKind.WHOIS)
    meeting = threading.Barrier(2, timeout=PATIENCE_S)
    under_way: dict[str, set[str]] = {"ripe": set(), "apnic": set()}
    most: list[int] = []

    def watch(progress: Progress) -> None:
        registry = progress.name.partition(".")[0]
        if progress.bytes_done == 0:
            under_way[registry].add(progress.name)
            most.append(len(under_way[registry]))
            if progress.name.endswith("inetnum.gz"):
                meeting.wait()
        elif progress.bytes_done == progress.bytes_total:
            under_way[registry].discard(progress.name)

    report = fetch_many(sources, tmp_path, sleep=time.sleep, progress=watch)
    assert len(report.results) == 6
    assert max(most) == 1


def test_names_do_as_well_as_sources_and_repetitions_are_dropped(server: DumpServer, tmp_path: Path) -> None:
    (source,) = published(server, "lacnic.db.gz")
    report = fetch_many([source, source], tmp_path, sleep=time.sleep)
    assert [result.path.name for result in report.results] == ["lacnic.db.gz"]
    assert fetch_many([], tmp_path, sleep=time.sleep).results == ()


def test_named_dump_without_its_key_fails_without_a_request(
    server: DumpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IPMICRA_ARIN_KEY", raising=False)
    report = fetch_many(["arin_db.zip"], tmp_path, sleep=time.sleep)
    assert "IPMICRA_ARIN_KEY" in report.failures[0].error.reason
    assert server.seen == []


def test_fault_in_the_callers_own_code_comes_back_to_the_caller(server: DumpServer, tmp_path: Path) -> None:
    def fail(_: Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fetch_many(published(server, "lacnic.db.gz"), tmp_path, sleep=time.sleep, progress=fail)


def test_threads_end_soon_after_the_caller_was_interrupted(server: DumpServer, tmp_path: Path) -> None:
    sources = published(server, "ripe.db.inetnum.gz", "lacnic.db.gz")
    server.publish("/ripe.db.inetnum.gz", b"x" * 200_000)
    has_come_back = threading.Event()

    def interrupt(progress: Progress) -> None:
        if progress.name == "lacnic.db.gz":
            raise KeyboardInterrupt
        has_come_back.wait(PATIENCE_S)

    with pytest.raises(KeyboardInterrupt):
        fetch_many(sources, tmp_path, sleep=time.sleep, progress=interrupt, options=FetchOptions(timeout_s=5))
    has_come_back.set()
    wait_until(lambda: not workers(), "the end of the threads")
    assert not (tmp_path / "ripe.db.inetnum.gz").exists()


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.endswith("(_work_off)")]
