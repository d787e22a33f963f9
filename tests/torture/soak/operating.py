"""What an operator does while a fleet runs: rotates tokens and the log, builds hierarchies, starts lists."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import aiohttp

from ipmicra.app.access import TokenWish, add_token, revoke_tokens
from ipmicra.app.build.build import build
from ipmicra.app.home import Home
from ipmicra.model.token import Role
from tests.servers.calling_fleet import CallingFleet
from tests.torture.soak.record import Record

BLOCKS = 8
"""Of 65,536 addresses each, whose /24 are the subnets that come and go."""


@dataclass
class Operator:
    """Has the tokens of one coordinator."""

    fleet: CallingFleet
    record: Record
    rng: Random
    crawl_hosts: int
    http: aiohttp.ClientSession
    token: str = ""
    """Of whoever asks; rotated."""
    _numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = Home(folder=self.fleet.home)

    def number(self, what: str) -> int:
        """Count something; return the next number."""
        self._numbers[what] = self._numbers.get(what, 0) + 1
        return self._numbers[what]

    async def request(self, method: str, path: str, body: str = "", token: str = "") -> str:
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "text/plain"}
        if body.startswith("{"):
            headers["Content-Type"] = "application/json"
        url = f"{self.fleet.coordinator.url}{path}"
        async with self.http.request(method, url, data=body.encode(), headers=headers) as response:
            text = await response.text()
            if response.status >= 300:
                raise OSError(f"{path}: {response.status} {text[:200]}")
            return text

    async def new_token(self) -> None:
        """Use another token from now on; the one of before is revoked, and refused from then on."""
        old, name = self.token, f"asker-{self.number('token')}"
        token = await asyncio.to_thread(self._made_token, name)
        for _ in range(5):
            try:
                await self.request("GET", "/v1/crawlers", token=token)
            except OSError:  # while other unknown tokens come, the store is looked at every 0.2 s
                await asyncio.sleep(0.5)
            else:
                self.record.note("token", name=name, what="works")
                break
        else:
            self.record.note("token", name=name, what="refused although new")
        self.token = token
        if old:
            before = f"asker-{self._numbers['token'] - 1}"
            await asyncio.to_thread(self._revoke, before)
            await self.expect_refused(before, "/v1/crawlers", old)

    def _made_token(self, name: str) -> str:
        with self.home.open_store() as store:
            return add_token(store, TokenWish(name=name, role=Role.CRAWLER))

    def _revoke(self, name: str) -> None:
        with self.home.open_store() as store:
            revoke_tokens(store, [name], Role.CRAWLER)

    async def expect_refused(self, name: str, path: str, token: str) -> None:
        await asyncio.sleep(2.0)
        method, body = ("POST", '{"version":1,"boot":"b"}') if "poll" in path else ("GET", "")
        try:
            await self.request(method, path, body, token=token)
            self.record.note("token", name=name, what="accepted although revoked")
        except OSError:
            self.record.note("token", name=name, what="refused")

    async def new_edition(self) -> None:
        """Build the hierarchy again, with other subnets and organisations."""
        edition = self.number("edition")
        await asyncio.to_thread(write_edition, self.fleet.folder, edition, self.crawl_hosts)

    async def rotate_log(self) -> None:
        """Copy the log and truncate it, as logrotate's `copytruncate` does."""
        log = self.fleet.home / "serve.log"
        copy = log.with_name(f"serve.log.{self.number('log')}")
        await asyncio.to_thread(shutil.copyfile, log, copy)
        with log.open("r+b") as file:
            file.truncate(0)
        lines = copy.read_bytes().splitlines()
        self.record.note("log", lines=len(lines), damaged=sum(not _is_whole(line) for line in lines))

    async def start_batch(self) -> None:
        """Delegate a list in the background, with a budget that may not suffice."""
        number = self.number("batch")
        hosts = [f"127.{1 + number % BLOCKS}.{250 - number // BLOCKS}.{200 + last}" for last in range(20)]
        path = f"/v1/batches?probe_budget={self.rng.randint(1, 30)}&words=soak"
        token = self.fleet.coordinator.token
        await self.request("POST", path, "\n".join(hosts), token=token)


def dump_text(edition: int, crawl_hosts: int) -> str:
    """Return the registrations of an edition: the subnets, and some that are only in this one."""
    blocks = [(block, third) for block in range(1, BLOCKS + 1) for third in range(256)]
    blocks += [(9, third) for third in range(crawl_hosts)]
    blocks += [(10, (edition + third) % 256) for third in range(20)]
    ranges = "".join(
        f"inetnum: 127.{block}.{third}.0 - 127.{block}.{third}.255\nnetname: N-{block}-{third}\n"
        f"org: ORG-L{third % 50}-RIPE\ncountry: DE\nsource: RIPE\n\n"
        for block, third in blocks
    )
    names = "".join(
        f"organisation: ORG-L{number}-RIPE\norg-name: Loop {number}, edition {edition % 2}\nsource: RIPE\n\n"
        for number in range(50)
    )
    return ranges + names


def write_edition(folder: Path, edition: int, crawl_hosts: int) -> None:
    """Build a hierarchy in place of the one of before."""
    dump = folder / "dump.db"
    dump.write_text(dump_text(edition, crawl_hosts))
    build([dump], folder / "home" / "hierarchy.ipm")


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
