"""Files and feeds for `locate`: read, or refused with a reason."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ipmicra.edge.files import locations as location_files
from ipmicra.edge.files.locations import fetch_feed, read_crawler_places, read_samples
from ipmicra.errors import FetchError, InputError
from tests.servers.dump_server import DumpServer, Mood


class _Feeds(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = {"/feed.csv": (200, b"192.0.2.0/24,DE,,Berlin,\n"), "/large": (200, b"x" * 5000)}.get(
            self.path, (302, b"")
        )
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Feeds) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


def test_geofeed_is_fetched_line_by_line(server: str) -> None:
    assert fetch_feed(f"{server}/feed.csv", schemes=("http",)) == ["192.0.2.0/24,DE,,Berlin,"]


def test_geofeed_over_plain_http_elsewhere_or_too_large_is_refused(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location_files, "FEED_LIMIT_BYTES", 1000)
    for url, schemes in [
        (f"{server}/feed.csv", ("https",)),
        ("file:///etc/passwd", ("https",)),
        (f"{server}/moved", ("http",)),
        (f"{server}/large", ("http",)),
        ("http://127.0.0.1:1/none", ("http",)),
    ]:
        with pytest.raises(FetchError):
            fetch_feed(url, schemes)


def test_geofeed_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location_files, "FEED_TOTAL_S", 0.3)
    with DumpServer() as server:
        server.publish("/feed.csv", b"192.0.2.0/24,DE,,Berlin,\n")
        server.expect("/feed.csv", Mood(drips="headers"), Mood(drips="body"))
        for _ in range(2):
            with pytest.raises(FetchError, match=r"not finished within 0\.3 s"):
                fetch_feed(f"{server.url}/feed.csv", ("http",))


def test_samples_and_crawlers_are_read_and_bad_rows_told(tmp_path: Path) -> None:
    samples, crawlers = tmp_path / "rtt.csv", tmp_path / "crawlers.csv"
    samples.write_text("crawler,address,rtt_ms\na,192.0.2.1,5\na,192.0.2.2,\na,bad,5\na,192.0.2.3,-1\n")
    crawlers.write_text("name,latitude,longitude\na,52,5\nb,152,5\n")
    findings: list[str] = []
    assert [sample.rtt_ms for sample in read_samples(samples, findings)] == [5.0, None, None]
    assert list(read_crawler_places(crawlers, findings)) == ["a"]
    assert len(findings) == 3


def test_missing_file_and_missing_column_are_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_samples(tmp_path / "none.csv", [])
    (tmp_path / "rtt.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="cannot determine which columns"):
        read_samples(tmp_path / "rtt.csv", [])
