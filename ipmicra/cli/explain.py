"""`ipmicra explain`: why a site has the crawler that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.cli.options import (
    Format,
    FormatOption,
    HierarchyOption,
    JsonOption,
    RulesOption,
    StoreOption,
    connection_of,
    home_of,
)
from ipmicra.cli.output import print_object
from ipmicra.model.foreign_text import printable

if TYPE_CHECKING:
    from ipmicra.app.connect.commands import Connection


def explain(
    context: typer.Context,
    site: Annotated[str, typer.Argument(metavar="SITE", help="Host name, URL or address.")],
    rules: RulesOption = None,
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain why a site has its crawler: who was asked, who was not.

    Uses what was recorded when its subnet was delegated, and sends no probes. Prints text unless a format is
    named.
    """
    from ipmicra.app.describe.delegation import describe_explanation
    from ipmicra.app.explain.explain import explain_site
    from ipmicra.app.explain.render import render

    print_format = Format.JSON if as_json else output_format or Format.TABLE
    home = home_of(context, store=store, hierarchy=hierarchy_file, rules=rules)
    connection = connection_of(context, home, ("site",))
    if connection is not None:
        _explain_remotely(connection, site, print_format)
        return
    with home.open_hierarchy() as hierarchy, home.open_store() as opened:
        explanation = explain_site(opened, hierarchy, site, rules=home.load_rules_if_any())
    if print_format is Format.TABLE:
        for line in render(explanation):
            typer.echo(printable(line))
    else:
        print_object(describe_explanation(explanation), print_format)
    if explanation.decided is None:
        raise typer.Exit(1)


def _explain_remotely(connection: Connection, site: str, print_format: Format) -> None:
    found = connection.ask("GET", "/v1/explain", {"host": site})
    if print_format is Format.TABLE:
        typer.echo(connection.text("/v1/explain", {"host": site, "format": "text"}), nl=False)
    else:
        print_object(found, print_format)
    if found["crawler"] is None:
        raise typer.Exit(1)
