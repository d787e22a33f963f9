"""The option that names the hierarchy to look into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ipmicra.app.home import Home

HierarchyOption = Annotated[
    Path | None,
    typer.Option(
        "--hierarchy", metavar="FILE", help="Hierarchy to use; by default hierarchy.ipm in the home folder."
    ),
]


def hierarchy_path(context: typer.Context, given: Path | None) -> Path:
    """Give the file that was named, or the one in the home folder."""
    home: Home = context.obj
    return given or home.hierarchy
