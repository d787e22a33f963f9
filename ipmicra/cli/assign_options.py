"""Arguments and options of `ipmicra assign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SeedsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SEED...]", help="Host names, URLs, addresses, files of them, or - for standard input."
    ),
]
BackendOption = Annotated[
    str, typer.Option(help="can, lbi, lbi-rtt, lbi-split or balance (the nearest crawler with room).")
]
PagesOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Pages of hosts: CSV of host,pages; else those that crawlers last told."
    ),
]
UrlsOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Known URLs or sitemaps, by which large sites are cut; repeatable."),
]
PiecesOption = Annotated[int, typer.Option(min=1, help="Pieces of one site at most.")]
EveryOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Crawl these sites again every 12h, 7d, 2w ...; kept until changed."),
]
CrawledOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What crawlers say: CSV of host,pages,crawled[,piece,started,every], or - for standard input.",
    ),
]
DueOption = Annotated[
    bool, typer.Option("--due", help="Take the sites that are due now, and print only what is to be done.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Keep nothing.")]
