"""`ipmicra rules`: who may own which sites."""

from __future__ import annotations

from typing import Annotated

import typer

from ipmicra.cli.options import (
    FormatOption,
    HierarchyOption,
    JsonOption,
    RulesOption,
    StoreOption,
    chosen,
    home_of,
)
from ipmicra.cli.output import DONE_IN_PART, print_rows, say


def rules(
    context: typer.Context,
    sites: Annotated[
        list[str] | None, typer.Argument(metavar="[SITE...]", help="Host names, URLs or addresses.")
    ] = None,
    rules_file: RulesOption = None,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the rules, and list the crawlers that they leave.

    With sites: which rules match each, and who may own it, from each vantage.
    """
    from ipmicra.app.rules import describe_rules

    print_format = chosen(output_format, as_json)
    home = home_of(context, store=store, hierarchy=hierarchy_file, rules=rules_file)
    report = describe_rules(home, sites or [])
    columns = ("host", "vantage", "crawlers", "rules") if sites else ("line", "rule", "leaves")
    print_rows(report.records, columns, print_format, cell=_cell)
    for host in report.unmatched:
        say(f"{host}: no rule matches it, so any crawler may own it")
    for seed in report.unresolved:
        say(f"{seed.text}: {seed.reason}")
    if report.unresolved:
        raise typer.Exit(DONE_IN_PART if report.records or report.unmatched else 1)


def _cell(value: object) -> object:
    return ("; ".join(map(str, value)) or "nobody") if isinstance(value, list) else value
