"""The real crawlee over loopback, with requests that a coordinator sorts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread

import pytest

from ipmicra.edge.store.ports import Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from tests.cli.command_line import ROOT, built_file
from tests.export_worlds import assignment
from tests.patience import PATIENCE_S
from tests.servers.coordinator import RunningCoordinator

OWNERS = {"127.0.0.1": "fra", "127.0.0.2": "nyc"}


class Pages(BaseHTTPRequestHandler):
    """Each page links to the next of its host, to one of the other host, and to a host that cannot be."""

    def do_GET(self) -> None:
        port = self.connection.getsockname()[1]
        host = str(self.headers["Host"]).partition(":")[0]
        number = int(self.path.strip("/") or 0)
        other = next(one for one in OWNERS if one != host)
        links = [f"http://{other}:{port}/{number}", "http://no~host.example/"]
        links += [f"http://{host}:{port}/{number + 1}"] if number < 3 else []
        body = "\n".join(links).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("0.0.0.0", 0), Pages) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_node_of_crawlee_fetches_its_own_sites_and_hands_over_the_others(tmp_path: Path, port: int) -> None:
    built_file(tmp_path, name="hierarchy.ipm")
    with Store.open(str(tmp_path / "state.db")) as store:
        for name in OWNERS.values():
            store.crawlers.put(Member(crawler=Crawler(name=name, address=ip_address("192.0.2.200"))))
        store.sites.put_many([Site(host, ip_address(host)) for host in OWNERS], 1.0)
        store.assignments.put_many([assignment(host, host, name) for host, name in OWNERS.items()])
    with RunningCoordinator(tmp_path, "--location", "none") as coordinator:
        words = [coordinator.url, coordinator.token, "fra", f"http://127.0.0.1:{port}/0"]
        done = subprocess.run(
            [sys.executable, "-m", "tests.servers.crawlee_node", *words],
            cwd=ROOT,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["fetched"] == [f"http://127.0.0.1:{port}/{i}" for i in range(4)]
    assert found["foreign"] == [[f"http://127.0.0.2:{port}/{i}", "nyc"] for i in range(4)]
    assert (found["own"], found["refused"]) == (4, 4)
