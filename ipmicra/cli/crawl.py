"""`ipmicra crawl`: a ready node that downloads sites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.extras import need_scrapy
from ipmicra.cli.options import (
    TARGETS_HELP,
    Format,
    FormatOption,
    JsonOption,
    StoreOption,
    chosen,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, print_object, print_rows, progress_bar, say, say_some
from ipmicra.errors import InputError
from ipmicra.model.quantities import plural

if TYPE_CHECKING:
    from ipmicra.app.crawl.command import CrawlOutcome, NodeStatus
    from ipmicra.app.crawl.request import CrawlRequest
    from ipmicra.app.home import Home
    from ipmicra.cli.output import Show

STATUS_COLUMNS = (
    *("node", "crawler", "state", "turn", "pages", "recent_pages_per_s", "queued", "in_flight"),
    *("foreign", "sent", "duplicates", "problems"),
)
STATUS_SPARED = ("duplicates", "turn", "in_flight", "sent", "foreign")
SHARED_COLUMNS = (
    *("crawl", "state", "node", "crawler", "held", "pages", "pages_per_s", "foreign_links"),
    *("duplicates_avoided", "is_idle", "silent_s", "links"),
)
MEGABYTE = 1_000_000

SeedsArgument = Annotated[list[str] | None, typer.Argument(metavar="[SEED...]", help=TARGETS_HELP)]
NodeOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of this node; default: the crawler's, or `node`.")
]
CrawlerOption = Annotated[
    str, typer.Option(metavar="NAME", help="Work for this crawler: fetch its sites and no others.")
]
AssignmentsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Who owns which site, as `assign` or `delegate` print it; default: the store.",
    ),
]
CrawlNameOption = Annotated[
    str, typer.Option("--crawl", metavar="NAME", help="With a coordinator: the crawl that nodes share.")
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="Folder of the node; default: crawl/NODE in the home."),
]
DueOption = Annotated[
    bool, typer.Option("--due", help="Of the crawler's sites, only those that the schedule wants now.")
]
AgainOption = Annotated[bool, typer.Option("--again", help="Start anew even if the last crawl did not end.")]
StatusOption = Annotated[bool, typer.Option("--status", help="Print how far the nodes are, and do nothing.")]
DepthOption = Annotated[int, typer.Option(min=0, help="Links from a seed to a page at most; 0: no limit.")]
PagesOption = Annotated[int | None, typer.Option(min=1, help="Stop after so many pages.")]
SitePagesOption = Annotated[
    int, typer.Option(min=1, help="URLs of one host at most: endless calendars end here.")
]
BytesOption = Annotated[int | None, typer.Option("--max-mb", min=1, help="Stop after so many megabytes.")]
PageBytesOption = Annotated[
    int, typer.Option("--max-page-mb", min=1, help="Pages of more megabytes are not read.")
]
DelayOption = Annotated[
    float, typer.Option(min=0, help="Seconds between two downloads from one address block.")
]
ConnectionsOption = Annotated[int, typer.Option(min=1, max=1000, help="Downloads at a time.")]
PerBlockOption = Annotated[int, typer.Option(min=1, help="Of these, from one address block.")]
TimeoutOption = Annotated[float, typer.Option(min=1, help="Longest wait for a page, in seconds.")]
TypeOption = Annotated[
    list[str] | None,
    typer.Option("--content-type", metavar="TYPE", help="Types to keep, as text/*; repeatable."),
]
AnyHostOption = Annotated[
    bool, typer.Option("--any-host", help="Alone: also follow links to hosts that are no seeds.")
]
SitemapsOption = Annotated[bool, typer.Option("--sitemaps/--no-sitemaps", help="Follow sitemaps.")]
WarcOption = Annotated[bool, typer.Option("--warc/--no-warc", help="Write WARC files.")]
ParquetOption = Annotated[bool, typer.Option("--parquet", help="Write tables as Parquet beside the CSV.")]
HostsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help="Addresses of hosts, written as in /etc/hosts."
    ),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="Also fetch from this prefix although it is not public; repeatable."),
]
BindOption = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address to connect from.")]
AgentOption = Annotated[str, typer.Option(metavar="TEXT", help="Sent with each request; name a contact.")]


def crawl(
    context: typer.Context,
    seeds: SeedsArgument = None,
    node: NodeOption = None,
    crawler: CrawlerOption = "",
    assignments: AssignmentsOption = None,
    crawl_name: CrawlNameOption = "ipmicra",
    due: DueOption = False,
    again: AgainOption = False,
    status: StatusOption = False,
    depth: DepthOption = 25,
    max_pages: PagesOption = None,
    max_site_pages: SitePagesOption = 10_000,
    max_mb: BytesOption = None,
    max_page_mb: PageBytesOption = 10,
    delay: DelayOption = 1.0,
    connections: ConnectionsOption = 16,
    per_block: PerBlockOption = 1,
    timeout: TimeoutOption = 60.0,
    content_type: TypeOption = None,
    any_host: AnyHostOption = False,
    sitemaps: SitemapsOption = True,
    warc: WarcOption = True,
    parquet: ParquetOption = False,
    hosts: HostsOption = None,
    allow: AllowOption = None,
    bind: BindOption = None,
    user_agent: AgentOption = "ipmicra-crawl",
    folder: FolderOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download sites, alone or as a node of a crawler.

    Alone it stays on the hosts of the seeds. With --crawler it fetches what is assigned to that crawler: by
    a running coordinator, which hands links over between nodes, by the store or by a file. Obeys robots.txt,
    waits between downloads from one address block, refuses addresses that are not public (unless you name
    them by --allow or --hosts, or type one as a seed), and writes WARC files and tables into a folder.

    Ctrl-C and kill -9 lose nothing: the same command resumes. After the end it crawls again, and asks for
    known pages only if they have changed.
    """
    given = dict(locals())
    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store)
    if status:
        _print_status(home, folder, print_format)
        return
    need_scrapy()
    _print_outcome(_run(home, given), print_format)


def _run(home: Home, given: dict[str, Any]) -> CrawlOutcome:
    from ipmicra.app.crawl.command import run_crawl

    with progress_bar() as show:
        return run_crawl(
            home,
            _asked(given),
            folder=given["folder"],
            only_due=given["due"],
            crawl_name=given["crawl_name"],
            on_status=lambda one: _show_progress(show, one),
        )


def _asked(given: dict[str, Any]) -> CrawlRequest:
    """Put together what the options ask for."""
    from ipmicra.app.crawl.command import own_places, seed_urls
    from ipmicra.app.crawl.request import KEPT_TYPES, CrawlRequest, Limits

    most_mb = given["max_mb"]
    return CrawlRequest(
        seeds=seed_urls(given["seeds"] or []),
        node=given["node"] or given["crawler"] or "node",
        crawler=given["crawler"],
        assignments=given["assignments"],
        limits=Limits(
            connections=given["connections"],
            per_slot=given["per_block"],
            delay_s=given["delay"],
            pages=given["max_pages"],
            site_pages=given["max_site_pages"],
            bytes=most_mb * MEGABYTE if most_mb else None,
        ),
        depth=given["depth"] or None,
        page_bytes=given["max_page_mb"] * MEGABYTE,
        timeout_s=given["timeout"],
        content_types=tuple(given["content_type"] or KEPT_TYPES),
        stays=not given["any_host"],
        follows_sitemaps=given["sitemaps"],
        has_warc=given["warc"],
        is_parquet=given["parquet"],
        is_again=given["again"],
        hosts=given["hosts"],
        source=given["bind"],
        user_agent=given["user_agent"],
        allowed=tuple(given["allow"] or ()),
        own_places=own_places(given["seeds"] or []),
    )


def _show_progress(show: Show, status: NodeStatus) -> None:
    text = f"{status.recent_pages_per_s:.1f} pages/s, {status.queued:,} queued, {status.problems:,} problems"
    show(text, status.pages, status.pages + status.queued + status.in_flight)


def _print_outcome(outcome: CrawlOutcome, print_format: Format) -> None:
    from ipmicra.app.crawl.command import describe_status

    status = outcome.status
    if print_format is Format.TABLE:
        print_rows([describe_status(status)], STATUS_COLUMNS, print_format, spared=STATUS_SPARED)
    else:
        print_object(describe_status(status) | {"folder": str(outcome.folder)}, print_format)
    say_some(list(outcome.findings), 10, "of the schedule")
    if status.refused:
        urls = plural(status.refused, "URL")
        say(f"{urls} refused, at addresses that are not public: --allow PREFIX permits them")
    if outcome.scheduled:
        say(f"{outcome.scheduled} crawls recorded in the schedule")
    for path in outcome.files:
        say(f"wrote {path}")
    if status.state == "interrupted":
        raise KeyboardInterrupt
    if status.state == "limit":
        say(f"a limit was reached with {status.queued:,} URLs left: raise it to go on, or use --again")
        raise typer.Exit(DONE_IN_PART)


def _print_status(home: Home, folder: Path | None, print_format: Format) -> None:
    from ipmicra.app.crawl.command import crawl_statuses, describe_status, node_statuses

    shared = crawl_statuses(home) if folder is None else None
    if shared:
        if print_format is Format.TABLE:
            shared = [one | {"links": _counted(one["links"])} for one in shared]
        print_rows(shared, SHARED_COLUMNS, print_format)
        return
    found = node_statuses(home, folder)
    if not found:
        raise InputError(f"no node has crawled in {folder or home.folder / 'crawl'}")
    print_rows([describe_status(one) for one in found], STATUS_COLUMNS, print_format, spared=STATUS_SPARED)


def _counted(links: dict[str, int]) -> str:
    """Write links by state for people: 12 waiting, 3 held."""
    return ", ".join(f"{count:,} {state}" for state, count in links.items())
