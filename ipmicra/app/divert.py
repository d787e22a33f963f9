"""`ipmicra divert`: carry the URLs that crawlers of Heritrix leave for each other.

Files for a crawler go into its folder `action`. URLs of hosts that the map did not name (`DEFAULT`) go to
their owner, by the coordinator's answer. What cannot be delivered stays where it is, and the next call tries
again. A call that is interrupted may deliver a file twice; Heritrix fetches no URL twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipmicra.app.connect.commands import Connection
from ipmicra.app.export.scope import LeftOut
from ipmicra.edge.files.crawlers import NAME
from ipmicra.edge.files.diversions import (
    NOBODY,
    Diversion,
    Diverted,
    find_diversions,
    write_rest,
    write_schedule,
)
from ipmicra.edge.files.seeds import host_of
from ipmicra.errors import InputError

NO_COORDINATOR = "nobody owned their hosts when the map was made, and no coordinator was named to ask"
NO_URL = "lines without a URL"
AGAIN = {"busy", "not-ready", "stopping"}
"""Problems of a host that go away."""


@dataclass(slots=True)
class CarryReport:
    """What was carried."""

    files: int = 0
    urls: dict[str, int] = field(default_factory=dict)
    """Delivered, by crawler."""
    left_out: LeftOut = field(default_factory=LeftOut)


def read_folders(words: Iterable[str]) -> dict[str, Path]:
    """Read `crawler=FOLDER`; `InputError` for anything else, or a folder that does not exist."""
    found = {}
    for word in words:
        name, equals, folder = word.partition("=")
        if not equals or not NAME.fullmatch(name) or not folder:
            raise InputError(f"--to {word!r}: expected CRAWLER=FOLDER, as nyc=/mnt/nyc/jobs/crawl/action")
        if not Path(folder).is_dir():
            raise InputError(f"--to {word!r}: there is no folder {folder}")
        found[name] = Path(folder)
    return found


def carry(folders: Sequence[Path], to: Mapping[str, Path], connection: Connection | None) -> CarryReport:
    """Carry every finished file of some folders."""
    report = CarryReport()
    for diversion in [one for folder in folders for one in find_diversions(folder)]:
        _carry(diversion, to, connection, report)
    return report


def _carry(
    diversion: Diversion, to: Mapping[str, Path], connection: Connection | None, report: CarryReport
) -> None:
    urls: list[Diverted] = []
    for one in diversion.read():
        if isinstance(one, Diverted):
            urls.append(one)
        else:
            report.left_out.leave(one[:80], NO_URL)
    owners = {one.url: diversion.target for one in urls}
    if diversion.target == NOBODY:
        if connection is None:
            report.left_out.leave(diversion.path.name, NO_COORDINATOR)
            return
        owners = _owners(urls, connection, report.left_out)
    parts: dict[str, list[Diverted]] = {}
    for one in urls:
        if one.url in owners:
            parts.setdefault(owners[one.url], []).append(one)
    rest: list[Diverted] = []
    for crawler, own in parts.items():
        if crawler in to:
            write_schedule(to[crawler], f"{diversion.path.stem}-{crawler}.s.schedule", own)
            report.urls[crawler] = report.urls.get(crawler, 0) + len(own)
        else:
            rest += own
            words = "a later call tries again" if not crawler else f"name its folder: --to {crawler}=FOLDER"
            report.left_out.leave(diversion.path.name, f"{crawler or 'not decided yet'}: {words}")
    if rest:
        write_rest(diversion, rest)
    else:
        diversion.put_away()
        report.files += 1


def _owners(urls: Sequence[Diverted], connection: Connection, left_out: LeftOut) -> dict[str, str]:
    """Ask who owns each URL; one that nobody will own is left out, one that is not decided has no name."""
    hosts = {one.url: host_of(one.url) for one in urls}
    asked = list(dict.fromkeys(hosts.values()))
    answers: list[dict[str, Any]] = []
    connection.each_line("/v1/owners", asked, answers.append)
    found: dict[str, str] = {}
    for host, answer in zip(asked, answers, strict=True):
        problem = answer.get("problem")
        if problem is None:
            found[host] = str(answer["crawler"])
        elif str(problem["type"]).rpartition(":")[2] in AGAIN:
            found[host] = ""
        else:
            left_out.leave(host, str(problem["detail"]).removeprefix(f"{host}: "))
    return {url: found[host] for url, host in hosts.items() if host in found}
