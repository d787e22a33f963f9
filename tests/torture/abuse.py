"""Let an agent, a node and a crawler with valid tokens turn hostile beside honest ones; see what it costs.

Theory of operation
-------------------
Real processes on loopback: `ipmicra serve`, an honest agent that calls out, and one attack after the other,
each in a process of its own (`attacks.py`). Beside them honest clients ask for the owners of known hosts and
of new ones, and an honest node exchanges links; what they get per second is measured without an attack and
during each. The hostile identity is a crawler of the fleet: it joined with a token, and has one for its
nodes.

At the end the history is judged (`Abused.violations`): owners that were given before the attacks are the
same; no link of an honest crawler is finished unless its node said so; nothing impossible is in the store;
the coordinator's memory is bounded and its log has no control characters. Links to private addresses are sent
to a real node, `ipmicra crawl`: it refuses all, and nothing arrives where they lead. Rates depend on the
machine: attackers take processor time like anybody else. They are reported, and must not be zero.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import math
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import requests

from ipmicra.wire.joining import JoinRequest, decode_join_token, encode_join
from tests.cli.command_line import ROOT
from tests.patience import PATIENCE_S, wait_until
from tests.servers.calling_fleet import CallingFleet, calling_fleet
from tests.servers.loopback_web import Page, loopback_web
from tests.torture.attacks import ATTACKS, OF_AGENTS, PRIVATE, PRIVATE_LINKS

CRAWL, NODE, HONEST, EVIL = "shared", "c0-1", "c0", "evil"
KINDS = ("known", "new", "links")
MOST_GROWTH_MB = 300.0
LONGEST_MS = 60_000.0


@dataclass
class Abused:
    """What happened."""

    before: dict[str, str] = field(default_factory=dict)
    """Owners before the attacks."""
    after: dict[str, str] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    """Links of the honest crawler that are finished."""
    said: set[str] = field(default_factory=set)
    """Links of which its node said so."""
    samples: list[tuple[str, str, float | None]] = field(default_factory=list)
    """Crawler, address, round trip."""
    log: str = ""
    growth_mb: float = 0.0
    rates: dict[str, dict[str, float]] = field(default_factory=dict)
    """Answers per second of each kind, by attack; under "" without one."""
    statuses: dict[str, dict[str, int]] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    """What an honest node heard that began another crawl after an attack."""
    refused: int | None = None
    """Links to private addresses that a real node refused; None without that attack."""
    trapped: int = 0
    """Connections to where these links lead."""

    def violations(self) -> list[str]:
        """Return what must not be."""
        found = [
            f"{host} was {owner}'s, and is {self.after.get(host)}'s"
            for host, owner in self.before.items()
            if self.after.get(host) != owner
        ]
        found += [f"{url} is finished, and its node did not say so" for url in self.finished - self.said]
        for crawler, address, rtt_ms in self.samples:
            if rtt_ms is not None and not (math.isfinite(rtt_ms) and 0 < rtt_ms <= LONGEST_MS):
                found.append(f"{crawler} measured {rtt_ms} ms to {address}")
            if not ip_address(address).is_loopback or address == "::1":
                found.append(f"{crawler} was believed about {address}, which nobody asked for")
        if self.growth_mb > MOST_GROWTH_MB:
            found.append(f"the coordinator grew by {self.growth_mb:.0f} MB")
        found += [
            f"no crawl could begin after {attack!r}: {status}"
            for attack, status in self.begun.items()
            if status != http.client.OK
        ]
        if self.trapped:
            found.append(f"a node was sent to private addresses {self.trapped} times")
        if self.refused == 0:
            found.append("no link to a private address reached a node")
        bad = [line for line in self.log.splitlines() if not _is_clean(line)]
        found += [f"the log has {line[:200]!r}" for line in bad[:5]]
        found += [
            f"no {kind} during {attack!r}"
            for attack, rates in self.rates.items()
            for kind, rate in rates.items()
            if not rate
        ]
        return found


def _is_clean(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return all(letter.isprintable() for letter in line)


class Honest:
    """Honest clients of three kinds, each in a thread of its own."""

    def __init__(self, fleet: CallingFleet, known: list[str]) -> None:
        self._fleet, self._known = fleet, known
        self.counts: Counter[str] = Counter()
        self.is_over = threading.Event()
        self.said: set[str] = set()
        self._threads = [threading.Thread(target=self._go, args=(kind,), daemon=True) for kind in KINDS]
        self._new = 0
        self._session, self._received, self._key = "", 0, 0

    def start(self) -> None:
        self._session = self._join()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self.is_over.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def _go(self, kind: str) -> None:
        line = requests.Session()
        line.headers["Authorization"] = f"Bearer {self._fleet.coordinator.token}"
        while not self.is_over.is_set():
            try:
                self.counts[kind] += {"known": self._ask, "new": self._ask_new, "links": self._exchange}[
                    kind
                ](line)
            except (requests.RequestException, http.client.HTTPException, OSError):
                time.sleep(0.05)

    def _ask(self, line: requests.Session) -> int:
        host = self._known[self.counts["known"] % len(self._known)]
        place = f"{self._fleet.coordinator.url}/v1/owner"
        return line.get(place, params={"host": host}, timeout=PATIENCE_S).status_code == http.client.OK

    def _ask_new(self, line: requests.Session) -> int:
        hosts = [self._fleet.site(3 + self._new % 2, self._new + number) for number in range(5)]
        self._new += 5
        place = f"{self._fleet.coordinator.url}/v1/owners"
        said = line.post(place, data="\n".join(hosts).encode(), timeout=PATIENCE_S)
        return sum("crawler" in json.loads(one) for one in said.text.splitlines())

    def _join(self) -> str:
        place = f"/v1/crawls/{CRAWL}/join"
        said = self._fleet.coordinator.ask(
            "POST", place, json={"version": 1, "node": NODE, "crawler": HONEST}
        )
        assert said.ok, said.text
        return str(said.json()["session"])

    def _exchange(self, line: requests.Session) -> int:
        """Report links, take what is delivered, and say that it is fetched."""
        links = []
        for host in self._known[:10]:
            self._key += 1
            name = host.removeprefix("http://").partition(":")[0]
            links.append([self._key, f"{host}{self._key}", name, 1, 0, ""])
        taken = self._send(line, links=links, room=100)
        self.said |= {one[4] for one in taken["links"]}
        self._send(line, done=[one[0] for one in taken["links"]])
        return len(taken["links"])

    def _send(self, line: requests.Session, **more: Any) -> dict[str, Any]:
        place = f"{self._fleet.coordinator.url}/v1/crawls/{CRAWL}/exchange"
        sent = {"version": 1, "session": self._session, "received": self._received, **more}
        response = line.post(place, json=sent, timeout=PATIENCE_S)
        response.raise_for_status()
        found: dict[str, Any] = response.json()
        self._received = found["delivery"]
        return found


def join_as_agent(fleet: CallingFleet, name: str) -> str:
    """Make a hostile member, as anybody would who got a join token; return its token."""
    token = decode_join_token(fleet.cli("token", "add", name, "--role", "join"))
    own = f"ipm_a_{secrets.token_urlsafe(32)}"
    key_hash = hashlib.sha256(own.encode()).digest()
    asked = JoinRequest(fleet=token.fleet, key_hash=key_hash, address=ip_address("198.51.100.66"))
    said = fleet.coordinator.ask("POST", "/v1/agents/join", data=encode_join(asked), token=token.secret)
    assert said.ok, said.text
    return own


def begin_crawl(fleet: CallingFleet, crawl: str) -> int:
    """Begin a crawl as an honest node, and leave it; return what the coordinator said."""
    joined = fleet.coordinator.ask(
        "POST", f"/v1/crawls/{crawl}/join", json={"version": 1, "node": NODE, "crawler": HONEST}
    )
    if joined.ok:
        leaving = {"version": 1, "session": joined.json()["session"], "room": 0, "is_leaving": True}
        assert fleet.coordinator.ask("POST", f"/v1/crawls/{crawl}/exchange", json=leaving).ok
    return joined.status_code


def memory_mb(pid: int) -> float:
    words = Path(f"/proc/{pid}/status").read_text("utf-8").split()
    return int(words[words.index("VmRSS:") + 1]) / 1024


def measured(honest: Honest, seconds: float) -> dict[str, float]:
    """What honest clients get per second; waits until each has got something."""
    start_s, start = time.monotonic(), Counter(honest.counts)
    time.sleep(seconds)
    wait_until(lambda: all(honest.counts[kind] > start[kind] for kind in KINDS), "honest clients to get on")
    passed_s = time.monotonic() - start_s
    return {kind: (honest.counts[kind] - start[kind]) / passed_s for kind in KINDS}


@contextmanager
def visited(fleet: CallingFleet, history: Abused, attack: str) -> Iterator[int]:
    """Run a real node beside an attack that is on nodes; return the port of a server that waits for it."""
    if attack != PRIVATE_LINKS:
        yield 0
        return
    crawl, token = CRAWL + PRIVATE, fleet.folder / "node.token"
    token.write_text(fleet.coordinator.token)
    where = ["--coordinator", fleet.coordinator.url, "--coordinator-token", str(token)]
    words = ["crawl", "--crawler", HONEST, "--crawl", crawl, "--folder", str(fleet.folder / "node"), "--json"]

    def run() -> None:
        def has_begun() -> bool:
            return fleet.coordinator.get(f"/v1/crawls/{crawl}").ok

        wait_until(has_begun, "the attacker to begin a crawl")
        command = [sys.executable, "-m", "ipmicra", *where, *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=5 * PATIENCE_S, check=True)
        history.refused = json.loads(done.stdout)["refused"]

    with loopback_web(lambda _host, _path: Page(), "0.0.0.0") as trap:
        history.refused = 0
        thread = threading.Thread(target=run)
        thread.start()
        yield trap.port
        thread.join()
        history.trapped = trap.connections


def run_campaign(folder: Path, seed: int, seconds: float, names: list[str]) -> Abused:
    """Run attacks beside honest work; return what happened."""
    history = Abused()
    with calling_fleet(folder, "--policy", "everyone", agents=1) as fleet:
        known = [fleet.site(block, number) for block in (1, 2) for number in range(10)]
        history.before = _owners(fleet, known)
        honest = Honest(fleet, known)
        honest.start()
        history.rates[""] = measured(honest, seconds)
        is_agent = any(name in OF_AGENTS for name in names)
        if not is_agent:
            fleet.cli("crawler", "add", EVIL, "198.51.100.66")
        tokens = {
            "agent_token": join_as_agent(fleet, EVIL) if is_agent else "none",
            "crawler_token": fleet.cli(
                "token", "add", "evil-nodes", "--role", "crawler", "--crawler", EVIL
            ).strip(),
        }
        rss_mb = memory_mb(fleet.coordinator.pid)
        for number, name in enumerate(names):
            given = {
                "name": name,
                "url": fleet.coordinator.url,
                "seconds": seconds,
                "seed": seed + number,
                "crawler": EVIL,
                "crawl": CRAWL,
                "victim": NODE,
                "port": fleet.port,
                **tokens,
            }
            with visited(fleet, history, name) as trap:
                command = [sys.executable, "-m", "tests.torture.attacks", json.dumps(given | {"trap": trap})]
                with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as attack:
                    history.rates[name] = measured(honest, seconds)
                    said, _ = attack.communicate(timeout=seconds + PATIENCE_S)
            history.statuses[name] = json.loads(said)
            history.begun[name] = begin_crawl(fleet, f"after-{number}")
            growth = memory_mb(fleet.coordinator.pid) - rss_mb
            history.growth_mb = max(history.growth_mb, growth)
        honest.stop()
        history.said, history.after = honest.said, _owners(fleet, known)
        fleet.coordinator.stop()
        history.log = fleet.coordinator.log()
    _read_files(folder / "home", history)
    return history


def _owners(fleet: CallingFleet, hosts: list[str]) -> dict[str, str]:
    return dict(zip(hosts, [one["crawler"] for one in fleet.coordinator.owners(hosts)], strict=True))


def _read_files(home: Path, history: Abused) -> None:
    with closing(sqlite3.connect(home / "state.db")) as store:
        for crawler, packed, rtt_ms in store.execute("SELECT crawler, address, rtt_ms FROM samples"):
            address = ip_address(packed)
            shown = str(getattr(address, "ipv4_mapped", None) or address)
            history.samples.append((crawler, shown, rtt_ms))
    with closing(sqlite3.connect(home / "crawls.db")) as ledger:
        (crawl,) = ledger.execute("SELECT id FROM crawls WHERE name = ?", (CRAWL,)).fetchone()
        own = (HONEST, crawl)
        rows = ledger.execute("SELECT url FROM links WHERE state = 2 AND crawler = ? AND crawl = ?", own)
        history.finished = {row[0] for row in rows}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="bin/torture abuse", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--only", nargs="*", default=list(ATTACKS), choices=list(ATTACKS))
    chosen = parser.parse_args()
    only = " ".join(f"'{name}'" for name in chosen.only)
    say(f"replay with: bin/torture abuse --seed {chosen.seed} --seconds {chosen.seconds:g} --only {only}")
    with tempfile.TemporaryDirectory(prefix="ipmicra-torture-") as folder:
        history = run_campaign(Path(folder), chosen.seed, chosen.seconds, chosen.only)
    for name, rates in history.rates.items():
        shown = ", ".join(f"{kind} {rate:.3g}/s" for kind, rate in rates.items())
        statuses = " ".join(f"{status}×{count:,}" for status, count in history.statuses.get(name, {}).items())
        say(f"{name or 'no attack'}: {shown}; the attacker got {statuses or 'nothing'}")
    found = history.violations()
    say(
        f"{len(chosen.only)} attacks, {len(history.before)} owners, {len(history.finished):,} honest links, "
        f"{len(history.samples):,} samples, {history.refused or 0:,} private links refused, "
        f"{history.growth_mb:.0f} MB more, {len(found)} violations"
    )
    for one in found[:50]:
        say(one)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
