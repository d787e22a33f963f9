"""The coordinator over HTTP: single questions beside a bare route, lists beside a delegator in process.

The hosts are held: their subnets are delegated, and the first, uncounted question has assigned them. Both
servers run the same uvicorn with the same settings, and `wrk` loads them in turn from eight connections.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, ip_address
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import ROOT, Times, run, side_by_side
from benchmarks.results import Row, Target, against
from ipmicra.app.build.build import build
from ipmicra.app.delegate.delegator import Delegator
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.store.ports import DelegationRecord, Member
from ipmicra.edge.store.store import Store
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence

TOKEN = "a-token-for-benchmarks-of-the-service"
SUBNETS, SIZE, CRAWLERS, CONNECTIONS = 500, 64, 4, 8
START_S = 60.0
_FIRST = int(IPv4Address("203.0.0.0"))


def measure_service(bench: Bench) -> list[Row]:
    """Measure single questions and lists of held hosts."""
    hosts = [str(IPv4Address(_FIRST + i)) for i in range(bench.sizes.owned)]
    with tempfile.TemporaryDirectory() as name, _agent() as url:
        ours, inside = Path(name) / "served", Path(name) / "inside"
        _prepare(ours, url)
        shutil.copytree(ours, inside)
        with _coordinator(ours) as (port, token):
            bench.say(f"owners of {len(hosts):,} held hosts")
            _owners(port, token, hosts)
            return [*_singles(bench, port, token, hosts), _lists(bench, inside, port, token, hosts)]


def _singles(bench: Bench, port: int, token: str, hosts: list[str]) -> list[Row]:
    if shutil.which("wrk") is None:
        return [Row(what="single owners over HTTP", missing="wrk is not installed (Debian: wrk)")]
    body = _get(port, token, hosts[0])
    for host in hosts[:1000]:
        _get(port, token, host)
    with _bare(body) as bare, tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_script(hosts[:1000], token))
        script.flush()
        seconds: dict[int, list[float]] = {port: [], bare: []}
        for number in range(-1, bench.sizes.rounds):
            for one in (port, bare):
                taken = _loaded(one, script.name, 1.0 if bench.sizes.is_quick else 3.0)
                if number >= 0:
                    seconds[one].append(taken)
    owner, plain = (Times(seconds=tuple(seconds[one])) for one in (port, bare))
    figures = (f"{1 / owner.median:,.0f} questions/s", f"bare route {1 / plain.median:,.0f}/s")
    what = "single owners of held hosts over HTTP, × a bare Starlette route with the same bytes"
    return [against(what, owner, plain, Target(sense="≥", limit=0.6), figures)]


def _lists(bench: Bench, inside: Path, port: int, token: str, hosts: list[str]) -> Row:
    options = DelegateOptions(access=AgentAccess(token=TOKEN), location="none", recheck_percent=0.0)
    loop = asyncio.new_event_loop()
    delegator = Delegator.open(inside, options=options)
    loop.run_until_complete(delegator.__aenter__())
    try:
        actions = {
            "owners": lambda: _owners(port, token, hosts),
            "delegate_many": lambda: loop.run_until_complete(delegator.delegate_many(hosts)),
        }
        times = side_by_side(actions, bench.sizes.rounds)
    finally:
        loop.run_until_complete(delegator.__aexit__(None, None, None))
        loop.close()
    figures = [f"{name} {len(hosts) / one.median:,.0f} hosts/s" for name, one in times.items()]
    what = "a list of owners of held hosts over HTTP, × `delegate_many` in process"
    return against(what, times["owners"], times["delegate_many"], Target(sense="≥", limit=0.4), figures)


# --- load


def _loaded(port: int, script: str, seconds: float) -> float:
    """Return the mean time of one request under load."""
    url = f"http://127.0.0.1:{port}"
    words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "-s", script, url]
    text = run(words)
    assert "Non-2xx" not in text, text
    found = re.search(r"Requests/sec:\s*([0-9.]+)", text)
    assert found, text
    return 1 / float(found[1])


def _script(hosts: list[str], token: str) -> str:
    paths = ",".join(f'"/v1/owner?host={host}"' for host in hosts)
    return (
        f"local paths = {{{paths}}}\nlocal at = 0\n"
        f'local headers = {{["Authorization"] = "Bearer {token}"}}\n'
        "request = function()\n  at = at % #paths + 1\n"
        '  return wrk.format("GET", paths[at], headers)\nend\n'
    )


def _get(port: int, token: str, host: str) -> bytes:
    return _asked(port, token, "GET", f"/v1/owner?host={host}", None)


def _owners(port: int, token: str, hosts: list[str]) -> int:
    body = _asked(port, token, "POST", "/v1/owners", "\n".join(hosts).encode())
    assert body.count(b"\n") == len(hosts), (body.count(b"\n"), body[-300:])
    return len(body)


def _asked(port: int, token: str, method: str, path: str, body: bytes | None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        found = response.read()
        assert response.status == 200, found[:500]
        return found
    finally:
        connection.close()


# --- servers


def _prepare(home: Path, agent_url: str) -> None:
    """Make a home whose subnets are all delegated."""
    home.mkdir()
    dump = "".join(
        f"inetnum: {IPv4Address(_FIRST + SIZE * i)} - {IPv4Address(_FIRST + SIZE * (i + 1) - 1)}\n"
        f"netname: N{i}\ncountry: GR\nsource: RIPE\n\n"
        for i in range(SUBNETS)
    )
    (home / "a.db").write_text(dump)
    build([home / "a.db"], home / "hierarchy.ipm")
    now_s = time.time()
    with Store.open(str(home / "state.db")) as store:
        for i in range(CRAWLERS):
            address = ip_address(f"198.51.100.{i + 1}")
            crawler = Crawler(name=f"c{i}", address=address, agent_url=agent_url, joined_s=now_s - 9)
            store.crawlers.put(Member(crawler=crawler))
        store.delegations.put_many(
            DelegationRecord(
                delegation=Delegation(
                    first=IPv4Address(_FIRST + SIZE * i),
                    last=IPv4Address(_FIRST + SIZE * (i + 1) - 1),
                    crawler=f"c{i % CRAWLERS}",
                    evidence=Evidence.PROBED,
                    rtt_ms=10.0,
                    probes=2,
                    created_s=now_s,
                    expires_s=now_s + 30 * 86_400,
                    policy="predict",
                ),
                address=IPv4Address(_FIRST + SIZE * i),
            )
            for i in range(SUBNETS)
        )


@contextmanager
def _process(words: list[str], pattern: str, stdin: bytes = b"") -> Iterator[str]:
    """Run a server of ours; yield what its output says where the pattern matches."""
    environment = {**os.environ, "IPMICRA_AGENT_TOKEN": TOKEN, "IPMICRA_LOG_FORMAT": "json"}
    child = subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert child.stdin
    assert child.stdout
    try:
        child.stdin.write(stdin + b"\n")
        child.stdin.flush()
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s:
            line = child.stdout.readline().decode()
            found = re.search(pattern, line)
            if found or not line:
                break
        assert found, line
        yield found[1]
    finally:
        child.terminate()
        child.communicate()


@contextmanager
def _agent() -> Iterator[str]:
    words = ["-m", "ipmicra", "agent", "--listen", "127.0.0.1:0"]
    with _process(words, r'"url": "([^"]+)"') as url:
        yield url


@contextmanager
def _coordinator(home: Path) -> Iterator[tuple[int, str]]:
    words = ["-m", "ipmicra", "--home", str(home), "serve", "--listen", "127.0.0.1:0", "--location", "none"]
    with _process(words, r"coordinator listens on (\S+?)\"") as url:
        token = (home / "operator.token").read_text().strip()
        yield int(url.rpartition(":")[2]), token


@contextmanager
def _bare(body: bytes) -> Iterator[int]:
    with _process(["-m", "benchmarks.child_bare_route"], r"^(\d+)$", body) as port:
        yield int(port)
