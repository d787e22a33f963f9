"""`ipmicra locate`: where targets are, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ipmicra.app.tables import request_of
from ipmicra.cli.completion import HEURISTICS, several_of
from ipmicra.cli.options import (
    Format,
    FormatOption,
    GeofeedOption,
    HierarchyOption,
    JsonOption,
    TableOption,
    chosen,
    connection_of,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, print_object, print_records, print_table, say, say_some
from ipmicra.cli.tables import ColumnOption, OutputOption, PrefixOption, refuse_table_options, write_table
from ipmicra.model.quantities import percent, plural

if TYPE_CHECKING:
    from ipmicra.app.connect.commands import Connection
    from ipmicra.app.home import Home
    from ipmicra.app.locate.locate import LocatedTarget, LocateOptions, LocateRun
    from ipmicra.app.tables import TableRequest

LONGEST_SHOWN = 80
"""Characters of a target in tables and messages."""
MOST_FINDINGS = 20
"""Findings that are shown."""

DEGREES = ("target", "city", "country", "latitude", "longitude", "radius_km")
"""Columns of places that a coordinator found."""

HeuristicsOption = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        autocompletion=several_of(HEURISTICS),
        help="Which heuristics vote, in order: loc, airport, city, institution, known, registry, latency.",
    ),
]
SamplesOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Round trips that check the votes: CSV of crawler, address, rtt_ms."),
]
CrawlersOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Crawlers of --samples: CSV of name, address, latitude, longitude."),
]
TablesOption = Annotated[
    bool, typer.Option("--tables", help="Print hits per heuristic and their agreement instead.")
]
TruthOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="With --tables: true places, as in --table, that the votes are compared with."
    ),
]


def locate(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET...",
            help="Addresses, prefixes, host names, URLs, files of them, or - for standard input.",
        ),
    ],
    offline: Annotated[bool, typer.Option("--offline", help="Ask no DNS server; fetch nothing.")] = False,
    heuristics: HeuristicsOption = None,
    table: TableOption = None,
    geofeed: GeofeedOption = None,
    fetch_geofeeds: Annotated[
        bool, typer.Option("--fetch-geofeeds", help="Fetch the geofeeds that registrations name.")
    ] = False,
    samples: SamplesOption = None,
    crawlers: CrawlersOption = None,
    tables: TablesOption = False,
    truth: TruthOption = None,
    output: OutputOption = None,
    column: ColumnOption = None,
    prefix: PrefixOption = "",
    hierarchy_file: HierarchyOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Locate each target, and show every heuristic's vote.

    With -o, a whole table of addresses or host names is written with the place of each.
    """
    from ipmicra.app.locate.locate import LocateOptions, LocateRun, order_of

    print_format = chosen(output_format, as_json)
    if truth and not tables:
        raise typer.BadParameter("--truth is compared in --tables: add it", param_hint="--truth")
    options = LocateOptions(
        is_offline=offline,
        order=order_of(heuristics),
        tables=tuple(table or ()),
        geofeeds=tuple(geofeed or ()),
        fetches_geofeeds=fetch_geofeeds,
        samples=samples,
        crawlers=crawlers,
        truth=truth,
    )
    home = home_of(context, hierarchy=hierarchy_file)
    if output is not None:
        run = LocateRun(options, home.open_hierarchy_if_any())
        return _locate_table(run, request_of(targets, output, column, prefix), print_format)
    refuse_table_options(column, prefix)
    if connection := connection_of(context, home, ("targets", "offline"), is_asked=False):
        return _locate_remotely(connection, targets, print_format, is_offline=offline)
    return _locate_here(home, options, targets, print_format, is_compared=tables)


def _locate_here(
    home: Home, options: LocateOptions, targets: list[str], print_format: Format, *, is_compared: bool
) -> None:
    from ipmicra.app.locate.locate import LocateRun

    hierarchy = home.open_hierarchy_if_any()
    run = LocateRun(options, hierarchy)
    located = run.locate(targets)
    if hierarchy is None and any(target.address for target in located):
        say(
            f"no hierarchy at {home.hierarchy}: registrations have no vote (build one: `ipmicra build DUMP…`)"
        )
    _say_findings(run.findings, located)
    if options.truth and not any(target.truth for target in located):
        say(f"{options.truth} has the true place of no target: nothing is compared")
    if is_compared:
        _print_tables(located, options.order, print_format)
    else:
        _print(located, print_format)
    _exit(located)


def _locate_table(run: LocateRun, request: TableRequest, print_format: Format) -> None:
    from ipmicra.app.locate.table import locate_table

    write_table(request, lambda wanted, watch: locate_table(run, wanted, watch), print_format)
    say_some(run.findings, MOST_FINDINGS, "findings")


def _locate_remotely(
    connection: Connection, targets: list[str], print_format: Format, *, is_offline: bool
) -> None:
    found: list[dict[str, Any]] = []
    connection.each_target(f"/v1/locate?offline={str(is_offline).lower()}", targets, found.append)
    if print_format is Format.TABLE:
        print_table("", (*DEGREES, "heuristic"), [_flat_row(one) for one in found])
    elif print_format in {Format.CSV, Format.PARQUET}:
        print_records([_flat(one) for one in found], print_format)
    else:
        print_records(found, print_format)
    unread = sum(one["address"] is None and not one["votes"] and bool(one["findings"]) for one in found)
    if unread:
        raise typer.Exit(DONE_IN_PART if unread < len(found) else 1)


def _flat_row(one: dict[str, Any]) -> tuple[Any, ...]:
    place = one["location"] or {}
    return _short(one["target"]), *(place.get(name) for name in DEGREES[1:]), one["heuristic"]


def _exit(located: list[LocatedTarget]) -> None:
    """Exit with a code that says whether all targets could be read and looked up."""
    unread = sum(
        target.address is None and not target.located.votes and bool(target.located.findings)
        for target in located
    )
    # A target that was read but that nobody could place is an answer, not a failure.
    if unread:
        raise typer.Exit(DONE_IN_PART if unread < len(located) else 1)


def _say_findings(findings: list[str], located: list[LocatedTarget]) -> None:
    messages = [*findings]
    for target in located:
        messages += [
            text if text.startswith(target.text) else f"{_short(target.text)}: {text}"
            for text in target.located.findings
        ]
    say_some(messages, MOST_FINDINGS, "findings; --json has those of each target")


def _print(located: list[LocatedTarget], print_format: Format) -> None:
    from ipmicra.app.describe.location import describe_located

    if print_format is Format.TABLE:
        columns = ("target", "city", "country", "latitude", "longitude", "radius km", "heuristic", "evidence")
        print_table("", columns, [_row(target) for target in located])
    elif print_format in {Format.CSV, Format.PARQUET}:
        print_records([_flat(describe_located(target)) for target in located], print_format)
    else:
        print_records([describe_located(target) for target in located], print_format)


def _row(target: LocatedTarget) -> tuple[Any, ...]:
    located, place, text = target.located, target.located.location, _short(target.text)
    if place is None:
        return text, None, None, None, None, None, None, "; ".join(located.findings) or "no vote"
    evidence = next(vote.evidence for vote in located.votes if vote.heuristic is located.heuristic)
    notes = [evidence, *(f"rejected: {vote.hint.heuristic}" for vote in located.rejected)]
    notes += ["anycast"] if located.anycast else []
    degrees = f"{place.latitude:.3f}", f"{place.longitude:.3f}", f"{place.radius_km:.0f}"
    return text, place.city, place.country, *degrees, str(located.heuristic), "; ".join(notes)


def _short(text: str) -> str:
    """Shorten a target that would fill the screen."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _flat(described: dict[str, Any]) -> dict[str, Any]:
    """Put each value of the location into a column of its own."""
    location = described.pop("location") or dict.fromkeys(
        ("latitude", "longitude", "city", "country", "radius_km")
    )
    return {"target": described.pop("target"), "address": described.pop("address"), **location, **described}


def _print_tables(located: list[LocatedTarget], order: tuple[Any, ...], print_format: Format) -> None:
    from ipmicra.app.describe.location import describe_tables

    described = describe_tables(located, order)
    if print_format is not Format.TABLE:
        print_object(described, print_format)
        return
    rows = [(hit["heuristic"], hit["votes"], hit["hits"], percent(hit["share"])) for hit in described["hits"]]
    rows.append(("none", 0, described["unlocated"], percent(described["unlocated"] / max(1, len(located)))))
    print_table(plural(len(located), "target"), ("heuristic", "votes", "hits", "share"), rows)
    typer.echo()
    pairs = [
        (
            " & ".join(pair["heuristics"]),
            pair["intersection"],
            pair["agree"],
            "" if pair["share"] is None else percent(pair["share"]),
        )
        for pair in described["agreement"]
        if pair["intersection"]
    ]
    print_table("agreement where both vote", ("heuristics", "intersection", "agree", "share"), pairs)
    if described["accuracy"]:
        typer.echo()
        _print_accuracy(described["accuracy"])


def _print_accuracy(accuracy: list[dict[str, Any]]) -> None:
    rows = [
        (
            row["heuristic"],
            row["right"],
            row["wrong"],
            "" if row["precision"] is None else percent(row["precision"]),
            percent(row["recall"]),
        )
        for row in accuracy
    ]
    print_table("compared with true places", ("heuristic", "right", "wrong", "precision", "recall"), rows)
