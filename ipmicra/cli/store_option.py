"""The option that names the store."""

from __future__ import annotations

from typing import Annotated

import typer

from ipmicra.app.home import Home

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Store to use: sqlite:///FILE; by default state.db in the home folder.",
    ),
]


def store_url(context: typer.Context, given: str | None) -> str:
    """Give the store that was named, or the one in the home folder."""
    home: Home = context.obj
    return given or home.store
