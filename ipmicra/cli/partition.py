"""`ipmicra partition`: a whole list of sites, parted among crawlers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.cli.output import (
    DONE_IN_PART,
    Format,
    FormatOption,
    JsonOption,
    chosen,
    print_records,
    print_table,
    say,
)

if TYPE_CHECKING:
    from ipmicra.app.partition_inputs import Gathered

FIGURES = {
    "method": "",
    "parts": "",
    "download_s": "time",
    "exchange_s": "time",
    "relocation_s": "time",
    "edge_cut": ",.0f",
    "load_variation": ".3f",
    "links_inside": ".1%",
    "moved_on_join": ".1%",
}
"""Columns of the report, and how a table writes them."""
WHOLE = 100
"""From here on figures are written without a fraction."""


def partition(
    seeds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SEED]...",
            help="Host names, URLs, addresses, files of them, or -; without any, all of --sites or --world.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="A method by name, repeatable, or all [default: all]."),
    ] = None,
    parts: Annotated[
        int | None,
        typer.Option("--parts", "-n", help="How many parts; of a file of crawlers the first so many."),
    ] = None,
    sites: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV: host,address[,latitude,longitude,country,pages,holder]."),
    ] = None,
    crawlers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV: name,address[,latitude,longitude,country,holder,capacity]."),
    ] = None,
    world: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder with sites.csv, crawlers.csv, rtt.csv and perhaps links.csv."
        ),
    ] = None,
    links: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV or Parquet: source,target[,links] by host.")
    ] = None,
    generate_links: Annotated[
        int | None, typer.Option(metavar="SEED", help="Invent scale-free links from a seed.")
    ] = None,
    link_locality: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of invented links that stay in their place.")
    ] = 0.0,
    assigned: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="Compare with a CSV of host,crawler, too; repeatable."),
    ] = None,
    preference: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="metis-multi: 1 for distance alone, 0 for links alone.")
    ] = 0.5,
    grain: Annotated[str, typer.Option(help="METIS keeps together: host, address or subnet.")] = "address",
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Ask the DNS for addresses that no file tells.")
    ] = False,
    hierarchy_file: Annotated[
        Path | None,
        typer.Option("--hierarchy", metavar="FILE", help="Hierarchy that tells subnets and holders."),
    ] = None,
    seed: Annotated[int, typer.Option(help="For methods that leave something to chance.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write host,address,crawler as CSV.")
    ] = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Part a whole list of sites among crawlers, and say what each way of doing it costs."""
    from ipmicra.app.partition import ALL, choose_methods, compare, left_out, write_assignments
    from ipmicra.app.partition_inputs import PartitionInputs, gather
    from ipmicra.partition.config import MetisConfig

    print_format = chosen(output_format, as_json)
    names = method or [ALL]
    gathered = gather(
        PartitionInputs(
            seeds=seeds or (),
            sites=sites,
            crawlers=crawlers,
            world=world,
            links=links,
            generate_links=generate_links,
            locality=link_locality,
            parts=parts,
            hierarchy=hierarchy_file,
            resolve=resolve,
            seed=seed,
            metis=MetisConfig(preference=preference, grain=read_grain(grain)),
        )
    )
    methods = choose_methods(names, read_pairs(assigned or []), gathered)
    for note in gathered.notes + (left_out(gathered, methods) if ALL in names else []):
        say(note)
    results = list(compare(methods, gathered))
    if output:
        write_assignments(output, gathered, {score.method: column for score, column in results})
    _print([score.row() for score, _ in results], gathered, print_format)
    if gathered.unusable:
        raise typer.Exit(DONE_IN_PART)


def read_grain(text: str) -> Any:  # noqa: ANN401 - the enum is loaded with the layer it belongs to
    """Read what METIS keeps together."""
    from ipmicra.partition.sites import Grain

    try:
        return Grain(text)
    except ValueError as error:
        raise typer.BadParameter(f"--grain is one of {', '.join(Grain)}") from error


def read_pairs(texts: list[str]) -> dict[str, Path]:
    """Read NAME=FILE."""
    pairs: dict[str, Path] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not (name and equals and file):
            raise typer.BadParameter(f"--assigned takes NAME=FILE, as in mine=today.csv, not {text!r}")
        pairs[name] = Path(file)
    return pairs


def _print(rows: list[dict[str, Any]], gathered: Gathered, print_format: Format) -> None:
    if print_format is not Format.TABLE:
        print_records(rows, print_format)
        return
    title = f"{len(gathered.hosts):,} sites among {gathered.problem.parts} crawlers"
    print_table(title, list(FIGURES), [shown(row) for row in rows])


def shown(row: dict[str, Any]) -> list[str]:
    """Write the figures of a row for people; what is not known is a dash."""
    return [figure_text(row[name], style) for name, style in FIGURES.items()]


def figure_text(value: float | str | None, style: str = "time") -> str:
    """Write one figure: a dash for none, times with three digits that count or as whole numbers."""
    if value is None:
        return "–"
    if not style or isinstance(value, str):
        return str(value)
    if style == "time":
        style = ",.0f" if value >= WHOLE else ".3g"
    return format(value, style)
