"""Options of `ipmicra partition`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SeedsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SEED]...",
        help="Host names, URLs, addresses, files of them, or -; without any, all of --sites or --world.",
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option("--method", "-m", help="A method by name, repeatable, or all [default: all]."),
]
PartsOption = Annotated[
    int | None,
    typer.Option("--parts", "-n", help="How many parts; of a file of crawlers the first so many."),
]
SitesOption = Annotated[
    Path | None,
    typer.Option(
        "--sites", metavar="FILE", help="CSV: host,address[,latitude,longitude,country,pages,holder]."
    ),
]
CrawlersOption = Annotated[
    Path | None,
    typer.Option(
        "--crawlers",
        metavar="FILE",
        help="CSV: name,address[,latitude,longitude,country,holder,capacity].",
    ),
]
WorldOption = Annotated[
    Path | None,
    typer.Option(
        "--world",
        metavar="WORLD",
        help="Folder with sites.csv, crawlers.csv, rtt.csv and perhaps links.csv; or a file of your own "
        "measurements.",
    ),
]
LinksOption = Annotated[
    Path | None,
    typer.Option("--links", metavar="FILE", help="CSV or Parquet: source,target[,links] by host."),
]
GenerateLinksOption = Annotated[
    int | None,
    typer.Option("--generate-links", metavar="SEED", help="Invent scale-free links from a seed."),
]
LocalityOption = Annotated[
    float,
    typer.Option(
        "--link-locality", min=0.0, max=1.0, help="Share of invented links that stay in their place."
    ),
]
AssignedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assigned", metavar="NAME=FILE", help="Compare with a CSV of host,crawler, too; repeatable."
    ),
]
PreferenceOption = Annotated[
    float,
    typer.Option(
        "--preference", min=0.0, max=1.0, help="metis-multi: 1 for distance alone, 0 for links alone."
    ),
]
GrainOption = Annotated[str, typer.Option("--grain", help="METIS keeps together: host, address or subnet.")]
ResolveOption = Annotated[
    bool, typer.Option("--resolve", help="Ask the DNS for addresses that no file tells.")
]
HierarchyFileOption = Annotated[
    Path | None,
    typer.Option("--hierarchy", metavar="FILE", help="Hierarchy that tells subnets and holders."),
]
SeedOption = Annotated[int, typer.Option("--seed", help="For methods that leave something to chance.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write host,address,crawler as CSV."),
]
