"""`ipmicra crawl` as a use case: which sites, in which folder, and what is said about all nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ipmicra.app.connect.commands import find_connection
from ipmicra.app.crawl.own_sites import OwnSites
from ipmicra.app.crawl.owners import read_owners
from ipmicra.app.crawl.request import CoordinatorAccess, CrawlRequest, NodeFolder
from ipmicra.app.home import Home
from ipmicra.edge.crawl_node.frontier import Frontier
from ipmicra.edge.crawl_node.status import NodeStatus, read_status
from ipmicra.edge.files.crawlers import NAME
from ipmicra.edge.files.seeds import UnresolvedSeed, is_file, parse_seed, read_seeds
from ipmicra.errors import InputError

__all__ = ["CrawlOutcome", "NodeStatus"]

FOLDER = "crawl"
"""Where nodes have their folders, in the home folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOutcome:
    """How a run ended, for the command line."""

    status: NodeStatus
    folder: Path
    files: tuple[Path, ...]
    scheduled: int = 0
    """Sites whose crawl was reported to the schedule of the store."""
    findings: tuple[str, ...] = ()


def seed_urls(words: Sequence[str]) -> tuple[str, ...]:
    """Read seeds as URLs; hosts without a scheme start at http://HOST/."""
    urls = []
    for text in read_seeds(words):
        seed = parse_seed(text)
        if isinstance(seed, UnresolvedSeed):
            raise InputError(f"{seed.text}: {seed.reason}")
        if seed.first is not None and seed.first != seed.last:
            raise InputError(f"{seed.text} is a range of addresses: name hosts or URLs to crawl")
        host = f"[{seed.host}]" if ":" in seed.host else seed.host
        port = f":{seed.port}" if seed.port else ""
        rest = text.partition("://")[2].partition("/")[2] if "://" in text else ""
        urls.append(f"{seed.scheme or 'http'}://{host}{port}/{rest}")
    return tuple(dict.fromkeys(urls))


def own_places(words: Sequence[str]) -> frozenset[tuple[str, int]]:
    """Return the hosts and ports that were typed as addresses, or as `localhost`.

    Such a word says itself that it is private. Lists of seeds may come from elsewhere, and the owner of a
    name may let it lead anywhere.
    """
    seeds = [parse_seed(word) for word in words if not is_file(word)]
    return frozenset(
        (seed.host, seed.port or (443 if seed.scheme == "https" else 80))
        for seed in seeds
        if not isinstance(seed, UnresolvedSeed) and (seed.address is not None or seed.host == "localhost")
    )


def run_crawl(
    home: Home,
    asked: CrawlRequest,
    *,
    folder: Path | None = None,
    only_due: bool = False,
    crawl_name: str = "ipmicra",
    on_status: Callable[[NodeStatus], object] = lambda _: None,
) -> CrawlOutcome:
    """Crawl as one node: alone, by a coordinator, by a file of assignments, or by those of the store."""
    if only_due and not asked.crawler:
        raise InputError("--due needs --crawler NAME: the schedule knows when the sites of crawlers are due")
    if not NAME.fullmatch(asked.node):
        raise InputError(f"node {asked.node!r}: letters, digits, `.`, `_`, `-`, 64 at most, are a name")
    place = NodeFolder(folder or home.folder / FOLDER / asked.node)
    own: OwnSites | None = None
    if asked.assignments is None:
        asked = _with_coordinator(home, asked, place, crawl_name)
    if asked.coordinator is not None:
        _check_shared(asked, only_due=only_due)
    elif asked.crawler and asked.assignments is None:
        asked, own = _from_store(home, asked, place, only_due=only_due)
        if not own.own:
            return _nothing_due(asked, place)
    elif asked.assignments is not None and not asked.seeds:
        asked = replace(asked, seeds=_own_seeds(asked.assignments, asked.crawler))
    if not asked.seeds and asked.coordinator is None:
        raise InputError("nothing to crawl: name seeds, or --crawler NAME with its assignments")
    from ipmicra.app.crawl.run import crawl

    report = crawl(asked, place, on_status)
    scheduled, findings = 0, list[str]()
    if own is not None and report.status.state == "finished":
        with Frontier.open(place.database) as frontier:
            began_s = float(frontier.fact("turn_started_s"))
            urls = frontier.pages_since(began_s)
        scheduled, findings = own.report(home, urls, began_s)
    return CrawlOutcome(
        status=report.status,
        folder=report.folder,
        files=report.files,
        scheduled=scheduled,
        findings=tuple(findings),
    )


def _with_coordinator(home: Home, asked: CrawlRequest, place: NodeFolder, crawl: str) -> CrawlRequest:
    """Let a running coordinator keep the queue, if one was named or holds the home."""
    connection = find_connection(home) if asked.crawler or home.coordinator else None
    if connection is None:
        return asked
    place.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    token = None
    if connection.token is not None:
        token = place.token
        token.touch(mode=0o600)
        token.write_text(connection.token + "\n", encoding="ascii")
    access = CoordinatorAccess(url=connection.url, crawl=crawl, token=token, authority=connection.authority)
    # A seed may be fetched by the node of somebody else, so typing it permits nothing.
    limits = replace(asked.limits, site_pages=None)
    return replace(asked, coordinator=access, limits=limits, own_places=frozenset())


def _check_shared(asked: CrawlRequest, *, only_due: bool) -> None:
    """Refuse what a node cannot decide by itself in a crawl that others share."""
    if not asked.crawler:
        raise InputError("a crawl with a coordinator needs --crawler NAME: whose sites this node fetches")
    if only_due:
        raise InputError("--due and a coordinator exclude each other: it delivers what is to be done")
    if asked.limits.pages is not None or asked.limits.bytes is not None:
        raise InputError(
            "--max-pages and --max-mb are for nodes that work alone: with a coordinator, use --depth"
        )


def _from_store(
    home: Home, asked: CrawlRequest, place: NodeFolder, *, only_due: bool
) -> tuple[CrawlRequest, OwnSites]:
    """Take sites and seeds from the store."""
    own = OwnSites.load(home, asked.crawler, only_due=only_due)
    place.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    own.write(place.assignments)
    return replace(asked, assignments=place.assignments, seeds=asked.seeds or own.seeds()), own


def _own_seeds(assignments: Path, crawler: str) -> tuple[str, ...]:
    owners = read_owners(assignments)
    if crawler not in owners.crawlers:
        raise InputError(
            f"{assignments} assigns nothing to {crawler or 'a crawler without a name: use --crawler'}"
        )
    return tuple(
        f"http://{host}{directory}"
        for host, shares in owners.items()
        for share in shares
        if share.crawler == crawler
        for directory in ([name for name in share.filters if not name.startswith("-")] or ["/"])
    )


def _nothing_due(asked: CrawlRequest, place: NodeFolder) -> CrawlOutcome:
    last = read_status(place.path)
    if last is None:
        raise InputError(f"nothing of {asked.crawler} is due, and nothing was ever crawled in {place.path}")
    return CrawlOutcome(
        status=last, folder=place.path, files=(), findings=(f"nothing of {asked.crawler} is due",)
    )


def crawl_statuses(home: Home) -> list[dict[str, Any]] | None:
    """Return what a running coordinator knows of its crawls, a record per node; None if there is none."""
    connection = find_connection(home)
    if connection is None:
        return None
    rows: list[dict[str, Any]] = []
    for one in connection.ask("GET", "/v1/crawls")["crawls"]:
        seen = {f"crawl_{name}": sum(each[name] for each in one["observed"]) for name in ("pages", "bytes")}
        ends = {**seen, "links": one["links"]}
        nodes = one["nodes"] or [{"node": None, "crawler": None, "pages": seen["crawl_pages"]}]
        rows += [{"crawl": one["crawl"], "state": one["state"], **node, **ends} for node in nodes]
    return rows


def node_statuses(home: Home, folder: Path | None = None) -> list[NodeStatus]:
    """Return what the nodes of a home, or of one folder, say about themselves."""
    folders = [folder] if folder is not None else sorted((home.folder / FOLDER).glob("*"))
    return [status for one in folders if (status := read_status(one)) is not None]


def describe_status(status: NodeStatus) -> dict[str, object]:
    """Describe the status of a node."""
    return dataclasses.asdict(status)
