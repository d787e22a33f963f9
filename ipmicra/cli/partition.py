"""`ipmicra partition`: divide a whole list of sites among crawlers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.completion import GRAINS, METHODS, one_of
from ipmicra.cli.options import (
    Format,
    FormatOption,
    GeofeedOption,
    HierarchyOption,
    JsonOption,
    StoreOption,
    TableOption,
    chosen,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, Record, print_records, print_table, say
from ipmicra.model.quantities import percent, plural

if TYPE_CHECKING:
    from ipmicra.app.partition.inputs import Gathered
    from ipmicra.app.partition.options import PartitionInputs

FIGURES = {
    "method": "",
    "parts": "",
    "download_s": "time",
    "exchange_s": "time",
    "relocation_s": "time",
    "edge_cut": ",.0f",
    "load_variation": ".3f",
    "links_inside": "share",
    "moved_on_join": "share",
}
"""Columns of the report, and how a table writes them."""
WHOLE = 100
"""From here on figures are written without a fraction."""


def _known_grain(name: str) -> str:
    if name not in GRAINS:
        raise typer.BadParameter(f"--grain is one of {', '.join(GRAINS)}")
    return name


SeedsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SEED]...",
        help="Host names, URLs, addresses, files of them, or -; default: all of --sites, --world or "
        "the store.",
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        autocompletion=one_of(METHODS),
        help="Name of a method, or all; repeatable [default: all].",
    ),
]
PartsOption = Annotated[
    int | None,
    typer.Option(
        "--parts",
        "-n",
        help="Number of parts: as many of --crawlers or --store, else crawlers without a place.",
    ),
]
SitesOption = Annotated[
    Path | None,
    typer.Option(
        "--sites",
        metavar="FILE",
        help="CSV: host,address[,latitude,longitude,country,pages,holder,as,aggregate]; or the output "
        "of `locate`.",
    ),
]
CrawlersOption = Annotated[
    Path | None,
    typer.Option(
        "--crawlers",
        metavar="FILE",
        help="CSV: name,address[,latitude,longitude,country,holder,capacity]; default: your fleet.",
    ),
]
WorldOption = Annotated[
    Path | None,
    typer.Option(
        "--world",
        metavar="WORLD",
        help="Folder with sites.csv, crawlers.csv, rtt.csv and optionally links.csv; or a file of your own "
        "measurements.",
    ),
]
LinksOption = Annotated[
    Path | None,
    typer.Option("--links", metavar="FILE", help="CSV or Parquet: source,target[,links] by host."),
]
GenerateLinksOption = Annotated[
    int | None,
    typer.Option("--generate-links", metavar="SEED", help="Generate scale-free links from this seed."),
]
LocalityOption = Annotated[
    float,
    typer.Option(
        "--link-locality", min=0.0, max=1.0, help="Share of generated links that stay in one place."
    ),
]
AssignedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--assigned", metavar="NAME=FILE", help="Also compare with a CSV of host,crawler; repeatable."
    ),
]
PreferenceOption = Annotated[
    float,
    typer.Option(
        "--preference",
        min=0.0,
        max=1.0,
        help="metis-multi, metis-paper: 1 for distance alone, 0 for links alone.",
    ),
]
GrainOption = Annotated[
    str,
    typer.Option(
        "--grain",
        metavar="NAME",
        autocompletion=one_of(GRAINS),
        callback=_known_grain,
        help="What METIS keeps together: host, address, subnet, aggregate or as.",
    ),
]
NetworksOption = Annotated[
    Path | None,
    typer.Option(
        "--networks",
        metavar="FILE",
        help="For the grains aggregate and as: announced prefixes, CSV of prefix,as.",
    ),
]
ResolveOption = Annotated[
    bool,
    typer.Option(
        "--resolve", help="Ask the DNS for addresses that are in no file and, with --locate, for places."
    ),
]
LocateOption = Annotated[
    bool,
    typer.Option("--locate", help="Locate sites without a location by the heuristics of `ipmicra locate`."),
]
JoinOption = Annotated[
    list[str] | None, typer.Option("--join", metavar="NAME", help="Let a crawler join the fleet; repeatable.")
]
LeaveOption = Annotated[
    list[str] | None,
    typer.Option("--leave", metavar="NAME", help="Let a crawler leave the fleet; repeatable."),
]
LogicalOption = Annotated[
    Path | None,
    typer.Option(
        "--logical",
        metavar="FILE",
        help="File of the logical table of two-level and subsite, updated by every call; default, for your "
        "fleet: in the store.",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Do not keep the logical table.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Random seed, for methods that use chance.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write host,address,crawler as CSV."),
]


def partition(
    context: typer.Context,
    seeds: SeedsArgument = None,
    method: MethodOption = None,
    parts: PartsOption = None,
    sites: SitesOption = None,
    crawlers: CrawlersOption = None,
    world: WorldOption = None,
    links: LinksOption = None,
    generate_links: GenerateLinksOption = None,
    link_locality: LocalityOption = 0.0,
    assigned: AssignedOption = None,
    preference: PreferenceOption = 0.5,
    grain: GrainOption = "address",
    networks: NetworksOption = None,
    resolve: ResolveOption = False,
    locate: LocateOption = False,
    table: TableOption = None,
    geofeed: GeofeedOption = None,
    join: JoinOption = None,
    leave: LeaveOption = None,
    logical: LogicalOption = None,
    dry_run: DryRunOption = False,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    seed: SeedOption = 0,
    output: OutputOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Divide a whole list of sites among crawlers, and compare costs.

    Unless --crawlers, --world or --parts say otherwise, the crawlers are those of your fleet, with what the
    store knows: addresses, pages, places, delegations and round trips.
    """
    from ipmicra.app.partition.options import PartitionInputs, metis_config

    inputs = PartitionInputs(
        seeds=seeds or (),
        sites=sites,
        crawlers=crawlers,
        world=world,
        home=home_of(context, store=store, hierarchy=hierarchy_file),
        links=links,
        generate_links=generate_links,
        locality=link_locality,
        networks=networks,
        parts=parts,
        joining=join or (),
        leaving=leave or (),
        resolve=resolve,
        locate=locate or bool(table or geofeed),
        place_tables=tuple(table or ()),
        geofeeds=tuple(geofeed or ()),
        logical=logical,
        is_kept=not dry_run,
        seed=seed,
        metis=metis_config(preference, grain),
    )
    _run(inputs, method, _read_pairs(assigned or []), output, chosen(output_format, as_json))


def _run(
    inputs: PartitionInputs,
    method: list[str] | None,
    columns_of_others: dict[str, Path],
    output: Path | None,
    print_format: Format,
) -> None:
    from ipmicra.app.partition.inputs import gather
    from ipmicra.app.partition.partition import (
        ALL,
        choose_methods,
        compare,
        keep_table,
        left_out,
        write_assignments,
    )

    names = method or [ALL]
    with gather(inputs) as gathered:
        methods = choose_methods(names, columns_of_others, gathered)
        for note in gathered.notes + (left_out(gathered, methods) if ALL in names else []):
            say(note)
        results = compare(methods, gathered)
        if output:
            write_assignments(output, gathered, results)
        for note in keep_table(gathered, results, is_kept=inputs.is_kept):
            say(note)
        _print([result.row() for result in results], gathered, print_format)
    if gathered.unusable:
        raise typer.Exit(DONE_IN_PART)


def _read_pairs(texts: list[str]) -> dict[str, Path]:
    """Read texts of the form NAME=FILE."""
    pairs: dict[str, Path] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not (name and equals and file):
            raise typer.BadParameter(f"--assigned takes NAME=FILE, as in mine=today.csv, not {text!r}")
        pairs[name] = Path(file)
    return pairs


def _print(rows: list[Record], gathered: Gathered, print_format: Format) -> None:
    if print_format is not Format.TABLE:
        print_records(rows, print_format)
        return
    title = f"{plural(len(gathered.hosts), 'site')} among {plural(gathered.problem.parts, 'crawler')}"
    cells = [[figure_text(row[name], style) for name, style in FIGURES.items()] for row in rows]
    print_table(title, list(FIGURES), cells)


def figure_text(value: float | str | None, style: str = "time") -> str:
    """Write one figure: a dash for none, times with three significant digits or as whole numbers."""
    if value is None:
        return "–"
    if not style or isinstance(value, str):
        return str(value)
    if style == "share":
        return percent(value)
    if style == "time":
        style = ",.0f" if value >= WHOLE else ".3g"
    return format(value, style)
