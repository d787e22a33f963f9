"""`ipmicra explain`: why a site has the crawler that it has."""

from __future__ import annotations

from typing import Annotated

import typer

from ipmicra.cli.hierarchy_option import HierarchyOption, hierarchy_path
from ipmicra.cli.output import Format, FormatOption, JsonOption, clean, print_object
from ipmicra.cli.service_extra import need_service
from ipmicra.cli.store_option import StoreOption, store_url


def explain(
    context: typer.Context,
    site: Annotated[str, typer.Argument(metavar="SITE", help="Host name, URL or address.")],
    hierarchy_file: HierarchyOption = None,
    store: StoreOption = None,
    output_format: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell why a site has its crawler: who was asked, who was not.

    It is told from what was written down when the subnet was delegated; nothing is probed. Text is printed
    unless a format is named.
    """
    need_service()
    from ipmicra.app.explain.explain import describe_explanation, explain_site
    from ipmicra.app.explain.render import tell
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.edge.store.store import Store

    print_format = Format.JSON if as_json else output_format or Format.TABLE
    with (
        Hierarchy.open(hierarchy_path(context, hierarchy_file)) as hierarchy,
        Store.open(store_url(context, store)) as opened,
    ):
        told = explain_site(opened, hierarchy, site)
        if print_format is Format.TABLE:
            for line in tell(told):
                typer.echo(clean(line))
        else:
            print_object(describe_explanation(told), print_format)
    if told.decided is None:
        raise typer.Exit(1)
