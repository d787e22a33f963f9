"""`ipmicra partition`: a whole list of sites, parted among crawlers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ipmicra.cli import partition_options as options
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
    from ipmicra.app.partition.inputs import Gathered

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
    seeds: options.SeedsArgument = None,
    method: options.MethodOption = None,
    parts: options.PartsOption = None,
    sites: options.SitesOption = None,
    crawlers: options.CrawlersOption = None,
    world: options.WorldOption = None,
    links: options.LinksOption = None,
    generate_links: options.GenerateLinksOption = None,
    link_locality: options.LocalityOption = 0.0,
    assigned: options.AssignedOption = None,
    preference: options.PreferenceOption = 0.5,
    grain: options.GrainOption = "address",
    resolve: options.ResolveOption = False,
    hierarchy_file: options.HierarchyFileOption = None,
    seed: options.SeedOption = 0,
    output: options.OutputOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Part a whole list of sites among crawlers, with the costs."""
    from ipmicra.app.partition.inputs import PartitionInputs, gather
    from ipmicra.app.partition.partition import ALL, choose_methods, compare, left_out, write_assignments
    from ipmicra.partition.config import MetisConfig

    print_format = chosen(output_format, as_json)
    names = method or [ALL]
    inputs = PartitionInputs(
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
    columns_of_others = read_pairs(assigned or [])
    gathered = gather(inputs)
    methods = choose_methods(names, columns_of_others, gathered)
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
