"""Commands as clients: of a coordinator that was named, or of the one that holds the home folder.

Whoever runs a command in a home that a coordinator holds means the coordinator: it would be busy otherwise,
and would not know what the command changed. So such a command asks it, with the operator's token, which lies
in the folder.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from ipmicra.app.home import Home
from ipmicra.edge.files.crawlers import read_labels
from ipmicra.edge.files.seeds import read_seeds, redacted
from ipmicra.errors import CoordinatorError, InputError

T = TypeVar("T")
TOKEN_VARIABLE = "IPMICRA_COORDINATOR_TOKEN"  # noqa: S105 - the name of a variable
MOST = 200_000
"""Seeds of one batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A coordinator that answers for a home."""

    url: str
    token: str | None
    authority: Path | None = None
    is_named: bool = False
    """Whether the user named it; otherwise it was found to hold the home."""

    @property
    def who(self) -> str:
        """Name it for people."""
        return f"the coordinator {self.url}" + ("" if self.is_named else ", which holds this home,")

    def run(self, work: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine that is given the link."""
        from ipmicra.app.connect.link import CoordinatorLink

        async def linked() -> T:
            async with CoordinatorLink(self.url, self.token, self.authority) as link:
                return await work(link)

        return asyncio.run(linked())

    def ask(
        self, method: str, path: str, parameters: Mapping[str, str] | None = None, body: object = None
    ) -> dict[str, Any]:
        """Return the answer to one request."""
        found: dict[str, Any] = self.run(lambda link: link.json(method, path, parameters, body))
        return found

    def text(self, path: str, parameters: Mapping[str, str]) -> str:
        """Return the answer to a question that is answered with text."""
        found: str = self.run(lambda link: link.text(path, parameters))
        return found

    def each_target(
        self, path: str, words: Sequence[str], on_line: Callable[[dict[str, Any]], object]
    ) -> None:
        """Ask about all targets that a user names, and hand on each answer."""
        self.each_line(path, list(read_seeds(words)), on_line)

    def each_line(self, path: str, lines: Sequence[str], on_line: Callable[[dict[str, Any]], object]) -> None:
        """Ask about all lines of a list, and hand on each answer."""

        async def ask(link: Any) -> None:  # noqa: ANN401 - imported where it is used
            for start in range(0, len(lines), 10_000):
                body = "\n".join(lines[start : start + 10_000]).encode()
                async for one in link.lines("POST", path, lines=body):
                    on_line(one)

        self.run(ask)

    def lines(self, path: str, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the objects of a stream."""

        async def ask(link: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - imported where it is used
            return [one async for one in link.lines("GET", path, parameters)]

        return self.run(ask)


def find_connection(home: Home) -> Connection | None:
    """Return the coordinator to ask: the named one, else the one that holds the home; None if none does."""
    from ipmicra.app.serve.place import OPERATOR_TOKEN, PLACE, find_place, read_operator_token

    if home.coordinator is not None:
        token = _named_token(home) or read_operator_token(home)
        return Connection(
            url=home.coordinator, token=token, authority=home.coordinator_authority, is_named=True
        )
    if not (home.folder / PLACE).is_file():
        return None
    place = find_place(home)
    if place is None:
        return None
    token = _named_token(home) or read_operator_token(home)
    if token is None:
        raise InputError(
            f"the coordinator {place.url} (process {place.pid}) holds this home, and its token in "
            f"{home.folder / OPERATOR_TOKEN} cannot be read: run this as its user, or name another with "
            "--coordinator-token"
        )
    return Connection(url=place.url, token=token, authority=place.certificate)


def _named_token(home: Home) -> str | None:
    if home.coordinator_token is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return home.coordinator_token.read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{home.coordinator_token}: no token can be read from it: {error}") from error


def forget_remotely(
    connection: Connection, words: Sequence[str], policy: str | None, *, samples: bool, dry_run: bool
) -> dict[str, Any]:
    """Forget what a user names, as `ipmicra forget` does."""
    wanted: dict[str, Any] = {"samples": samples, "dry_run": dry_run}
    wanted |= {"targets": list(read_seeds(words))} if words else {}
    wanted |= {"policy": policy} if policy is not None else {}
    return connection.ask("POST", "/v1/forget", body=wanted)


def list_crawlers(connection: Connection, *, with_left: bool) -> list[dict[str, Any]]:
    """Return the fleet of a coordinator."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        parameters = {"all": str(with_left).lower(), "cursor": cursor}
        page = connection.ask("GET", "/v1/crawlers", parameters)
        found += page["crawlers"]
        if page["next"] is None:
            return found
        cursor = page["next"]


def add_crawler(
    connection: Connection, fields: Mapping[str, Any], labels: Sequence[str], *, is_replacing: bool
) -> dict[str, Any]:
    """Let a crawler join the fleet of a coordinator."""
    wanted = {name: value for name, value in fields.items() if value is not None}
    wanted |= {"labels": read_labels(labels)} if labels else {}
    return connection.ask("POST", "/v1/crawlers", {"replace": str(is_replacing).lower()}, wanted)


def remove_crawler(connection: Connection, name: str, *, is_now: bool = False) -> dict[str, Any]:
    """Let a crawler leave the fleet of a coordinator."""
    return connection.ask("DELETE", f"/v1/crawlers/{quote(name, safe='')}", {"now": str(is_now).lower()})


def drain_crawler(connection: Connection, name: str) -> dict[str, Any]:
    """Assign nothing new to a crawler of a coordinator."""
    return connection.ask("POST", f"/v1/crawlers/{quote(name, safe='')}/drain")


def measure_crawlers(
    connection: Connection, names: Sequence[str], port: int | None, *, is_missing: bool, is_dry: bool
) -> dict[str, Any]:
    """Let the crawlers of a coordinator measure each other."""
    wanted: dict[str, Any] = {"names": list(names), "missing": is_missing, "dry_run": is_dry}
    wanted |= {"port": port} if port is not None else {}
    return connection.ask("POST", "/v1/crawlers/measure", body=wanted)


def assign_remotely(
    connection: Connection,
    words: Sequence[str],
    evenness: float | None,
    every_s: float | None,
    *,
    is_kept: bool,
) -> dict[str, Any]:
    """Assign what a user names by `balance`, as `ipmicra assign` does."""
    wanted: dict[str, Any] = {"hosts": list(read_seeds(words)), "is_kept": is_kept}
    wanted |= {"evenness": evenness} if evenness is not None else {}
    wanted |= {"every_s": every_s} if every_s is not None else {}
    return connection.ask("POST", "/v1/assign", body=wanted)


class BatchRun:
    """`ipmicra delegate` as a batch of a coordinator."""

    def __init__(self, connection: Connection, words: Sequence[str], budget: int | None) -> None:
        """Name the seeds as the user does."""
        self._connection, self._words, self._budget = connection, list(words), budget

    def run(
        self,
        on_result: Callable[[dict[str, Any]], object],
        progress: Callable[[dict[str, Any]], object],
        on_start: Callable[[int], object],
    ) -> dict[str, Any]:
        """Start it, hand on results as they come, and return how it ended."""
        seeds = list(read_seeds(self._words))
        if len(seeds) > MOST:
            raise InputError(f"{len(seeds):,} seeds: a batch has {MOST:,} at most; name fewer at a time")
        found: dict[str, Any] = self._connection.run(
            lambda link: self._run(link, seeds, on_result, progress, on_start)
        )
        return found

    async def _run(
        self,
        link: Any,  # noqa: ANN401 - imported where it is used
        seeds: Sequence[str],
        on_result: Callable[[dict[str, Any]], object],
        progress: Callable[[dict[str, Any]], object],
        on_start: Callable[[int], object],
    ) -> dict[str, Any]:
        words = redacted("ipmicra delegate", *self._words)[:200]
        parameters = {"words": words, "key": uuid.uuid4().hex}  # a request that is repeated starts one batch
        if self._budget is not None:
            parameters["probe_budget"] = str(self._budget)
        one = await link.json("POST", "/v1/batches", parameters, lines="\n".join(seeds).encode())
        on_start(one["id"])
        path, cursor = f"/v1/batches/{one['id']}", 0
        rows: list[dict[str, Any]] = []
        while True:
            try:
                asked = {"cursor": str(cursor), "follow": "true"}
                async for line in link.lines("GET", f"{path}/results", asked):
                    if "host" in line:
                        rows.append(line)
                        continue
                    for row in rows:  # the cursor says that they are complete
                        on_result(row)
                    rows, cursor = [], line["cursor"]
                    progress(await link.json("GET", path))
                one = await link.json("GET", path)
                if one["state"] in {"done", "cancelled"} and not rows:
                    return dict(one)
            except CoordinatorError as error:
                if error.status is not None:
                    raise
            rows = []  # the coordinator went away, and the batch goes on when it is back
