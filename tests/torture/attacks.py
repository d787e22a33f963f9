"""What a hostile agent, node or crawler with a valid token sends; run in a process of its own by `abuse.py`.

    python -m tests.torture.attacks '{"name": "poll flood", "url": "http://127.0.0.1:1", "seconds": 5, …}'

Each attack goes on for so many seconds and prints how many answers of each status it got, as JSON.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlsplit

PRIVATE, PRIVATE_LINKS = "-private", "private links"
"""What a crawl of its own has behind the name, and the attack that needs one, with a real node in it."""
LIES = ("-1", "NaN", "Infinity", "1e308", "0.0000000001", '"quick"', "null", "59999")
TEXTS = ("\x1b[2J\x1b]0;owned\x07", "<script>alert(1)</script>", "a\nb", "\u202e", "=cmd()", "x" * 5_000)
URLS = (
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://a.example/" + "a" * 9_000,
    "gopher://a.example/",
    "//a.example/",
)


@dataclass
class Attacker:
    """One hostile identity and its tokens."""

    name: str
    url: str
    seconds: float
    seed: int
    agent_token: str
    crawler_token: str
    crawler: str
    crawl: str
    victim: str
    """Name of an honest node."""
    port: int
    """Where sites answer."""
    trap: int = 0
    """Where nobody may connect to."""
    threads: int = 4
    statuses: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.until_s = time.monotonic() + self.seconds
        parts = urlsplit(self.url)
        self.place = (str(parts.hostname), parts.port or 80)

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until_s

    def post(
        self, line: http.client.HTTPConnection, path: str, body: bytes, token: str, **headers: str
    ) -> tuple[int, bytes]:
        """Send a request on a connection that is kept; count and return what comes."""
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
        try:
            line.request("POST", path, body, sent)
            response = line.getresponse()
            found = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            line.close()
            found = 0, type(error).__name__.encode()
        self.statuses[str(found[0])] += 1
        return found

    def connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self.place, timeout=30)

    def join_crawl(self, line: http.client.HTTPConnection, crawl: str, node: str) -> str:
        body = json.dumps({"version": 1, "node": node, "crawler": self.crawler}).encode()
        status, said = self.post(line, f"/v1/crawls/{crawl}/join", body, self.crawler_token)
        return str(json.loads(said)["session"]) if status == http.client.OK else ""


Attack = Callable[[Attacker, http.client.HTTPConnection, int], None]


def poll(**changes: Any) -> bytes:
    return json.dumps({"version": 1, "boot": "evil", "capacity": 0, "wait_s": 0, **changes}).encode()


def poll_flood(who: Attacker, line: http.client.HTTPConnection, _thread: int) -> None:
    while who.goes_on:
        who.post(line, "/v1/agents/poll", poll(), who.agent_token)


def results_flood(who: Attacker, line: http.client.HTTPConnection, thread: int) -> None:
    """Invented answers to orders of nobody, a thousand at a time, the same again and again."""
    answer = {"address": "127.1.0.1", "rtt_ms": 0.001, "rung": "tcp", "all_ms": [0.001], "taken_s": 1e9}
    many = [{"order": f"{thread}-{number}", **answer} for number in range(1_000)]
    body = json.dumps({"version": 1, "boot": "evil", "answers": many}).encode()
    while who.goes_on:
        who.post(line, "/v1/agents/results", body, who.agent_token)


def lies(who: Attacker, line: http.client.HTTPConnection, _thread: int) -> None:
    """Takes orders and answers each with a lie: impossible times, other addresses, a clock of its own."""
    cursor = ""
    while who.goes_on:
        asked = poll(capacity=1_000, wait_s=0.2, cursor=cursor)
        status, said = who.post(line, "/v1/agents/poll", asked, who.agent_token)
        if status != http.client.OK or not said:
            time.sleep(0.1)
            continue
        found = json.loads(said)
        cursor = found["cursor"]
        orders = [one for work in found["works"] for one in work.get("probe", {}).get("orders", ())]
        for order in orders:
            lie, address = who.rng.choice(LIES), who.rng.choice([order["address"], "10.0.0.1", "::1"])
            detail, taken = json.dumps(who.rng.choice(TEXTS)), who.rng.choice([-1, 0, 4e11, 1e18])
            answer = (
                f'{{"order": "{order["id"]}", "address": "{address}", "rtt_ms": {lie}, "rung": "tcp", '
                f'"all_ms": [{lie}], "detail": {detail}, "taken_s": {taken}}}'
            )
            for _ in range(2):  # and once more: a replay
                body = f'{{"version": 1, "boot": "evil", "answers": [{answer}]}}'.encode()
                who.post(line, "/v1/agents/results", body, who.agent_token)


def bodies(who: Attacker, line: http.client.HTTPConnection, thread: int) -> None:
    """Huge, deep, packed, slow and senseless bodies, to all that takes bodies."""
    ways = [
        ("/v1/agents/poll", who.agent_token),
        ("/v1/agents/results", who.agent_token),
        (f"/v1/crawls/{who.crawl}/join", who.crawler_token),
        (f"/v1/crawls/{who.crawl}/exchange", who.crawler_token),
    ]
    if thread == 0:
        return _slow(who)
    bomb = gzip.compress(b"0" * 20_000_000, 1)
    kinds: list[tuple[bytes, dict[str, str]]] = [
        (b"[" * 200_000, {}),
        (b'{"a":' * 100_000, {}),
        (bomb, {"Content-Encoding": "gzip"}),
        (b"x" * 900_000, {}),
        (b"x" * 9_000_000, {}),
        (b"\xff\xfe", {}),
        (b'{"version": 2}', {}),
        *[(poll(software=text), {}) for text in TEXTS],
    ]
    while who.goes_on:
        path, token = who.rng.choice(ways)
        body, headers = who.rng.choice(kinds)
        who.post(line, path, body, token, **headers)
    return None


def _slow(who: Attacker) -> None:
    """Announce bodies that never come, on as many connections as are allowed."""
    head = (
        f"POST /v1/agents/poll HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {who.agent_token}\r\n"
        "Content-Length: 1000\r\n\r\n{"
    ).encode()
    lines: list[socket.socket] = []
    while who.goes_on and len(lines) < 300:
        with contextlib.suppress(OSError):
            lines.append(socket.create_connection(who.place, timeout=5))
            lines[-1].sendall(head)
    while who.goes_on:
        time.sleep(0.05)
    who.statuses["slow"] += len(lines)
    for one in lines:
        one.close()


def join_flood(who: Attacker, line: http.client.HTTPConnection, _thread: int) -> None:
    """Invented join tokens."""
    while who.goes_on:
        token = f"ipm_j_{who.rng.getrandbits(256):043x}"[:49]
        body = {"version": 1, "fleet": "0" * 16, "key_hash": f"{who.rng.getrandbits(256):064x}"}
        who.post(line, "/v1/agents/join", json.dumps(body).encode(), token)


def link_flood(who: Attacker, line: http.client.HTTPConnection, thread: int) -> None:
    """Links to invented hosts and to one host, two thousand at a time."""
    session = who.join_crawl(line, who.crawl, f"evil-{thread}")
    number = 0
    while who.goes_on:
        links = []
        for _ in range(2_000):
            number += 1
            host = f"127.7.{thread}.1" if number % 10 else f"127.8.{number // 250 % 250}.{number % 250 + 1}"
            key = thread << 40 | number
            links.append([key, f"http://{host}:{who.port}/{number}", host, 1, number, ""])
        body = json.dumps({"version": 1, "session": session, "links": links, "room": 0}).encode()
        who.post(line, f"/v1/crawls/{who.crawl}/exchange", body, who.crawler_token)


def private_links(who: Attacker, line: http.client.HTTPConnection, thread: int) -> None:
    """Links to addresses inside the network of an honest node, which owns them; a crawl of their own."""
    crawl = who.crawl + PRIVATE
    session = who.join_crawl(line, crawl, f"evil-{thread}")
    number = 0
    while who.goes_on:
        links = []
        for _ in range(20):
            number += 1
            host = f"127.1.0.{number % 10 + 1}"
            links.append(
                [thread << 40 | number, f"http://{host}:{who.trap}/{thread}/{number}", host, 1, 0, ""]
            )
        body = json.dumps({"version": 1, "session": session, "links": links, "room": 0}).encode()
        who.post(line, f"/v1/crawls/{crawl}/exchange", body, who.crawler_token)
        time.sleep(0.2)
    body = json.dumps({"version": 1, "session": session, "room": 0, "is_leaving": True}).encode()
    who.post(line, f"/v1/crawls/{crawl}/exchange", body, who.crawler_token)


def theft(who: Attacker, line: http.client.HTTPConnection, thread: int) -> None:
    """Acknowledge, claim and release what others hold; take their names; begin crawls; invent sights."""
    session = who.join_crawl(line, who.crawl, f"thief-{thread}")
    path = f"/v1/crawls/{who.crawl}/exchange"
    start = 1
    while who.goes_on:
        numbers = list(range(start, start + 1_500))
        start = 1 if start > 20_000 else start + 1_500
        keys = [who.rng.randrange(1, 5_000) for _ in range(1_500)]
        for stolen in (
            {"done": numbers},
            {"fetched": keys},
            {
                "links": [[key, "http://127.1.0.1/", "127.1.0.1", 0, 0, ""] for key in keys[:50]],
                "claimed": keys,
            },
            {"released": [f"127.{n}.0.0/24" for n in range(200)] + [f"127.{n}.0.1" for n in range(200)]},
            {"observed": [["127.1.0.1", "127.1.0.1", 10**9, 10**15, 1e9, 0.001, 10**9, 10**9, 80]]},
        ):
            body = json.dumps({"version": 1, "session": session, **stolen}).encode()
            who.post(line, path, body, who.crawler_token)
        who.join_crawl(line, who.crawl, who.victim)
        who.join_crawl(line, f"crawl-{who.rng.getrandbits(40)}", "n")
        for url in URLS:
            link = [1, url, "a.example", 0, 0, ""]
            body = json.dumps({"version": 1, "session": session, "links": [link]}).encode()
            who.post(line, path, body, who.crawler_token)
        for text in TEXTS:
            who.join_crawl(line, who.crawl, text)


def question_flood(who: Attacker, line: http.client.HTTPConnection, thread: int) -> None:
    """Ask for owners of ever new hosts, in lists and one by one."""
    number = 0
    while who.goes_on:
        number += 100
        hosts = [
            f"http://127.{5 + thread % 2}.{(number + i) // 250 % 250}.{(number + i) % 250 + 1}/"
            for i in range(100)
        ]
        who.post(
            line, "/v1/owners", "\n".join(hosts).encode(), who.crawler_token, **{"Content-Type": "text/plain"}
        )


ATTACKS: dict[str, Attack] = {
    "poll flood": poll_flood,
    "results flood": results_flood,
    "lies": lies,
    "bodies": bodies,
    "join flood": join_flood,
    "link flood": link_flood,
    PRIVATE_LINKS: private_links,
    "theft": theft,  # it begins as many crawls as it may
    "question flood": question_flood,
}
OF_AGENTS = {"poll flood", "results flood", "lies", "bodies"}
"""Those that need the token of an agent."""


def run(who: Attacker) -> None:
    def one(thread: int) -> None:
        ATTACKS[who.name](who, who.connected(), thread)

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(who.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(who.seconds + 40)


if __name__ == "__main__":
    attacker = Attacker(**json.loads(sys.argv[1]))
    run(attacker)
    sys.stdout.write(json.dumps(attacker.statuses))
