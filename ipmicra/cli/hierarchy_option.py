"""The option that names the hierarchy to look into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ipmicra.app.home import Home

if TYPE_CHECKING:
    from ipmicra.edge.hierarchy_file import Hierarchy

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


@contextmanager
def hierarchy_if_there(context: typer.Context, given: Path | None) -> Iterator[Hierarchy | None]:
    """Open the hierarchy; None if none was named and there is none in the home folder."""
    from ipmicra.edge.hierarchy_file import Hierarchy

    path = hierarchy_path(context, given)
    if given is None and not path.is_file():
        yield None
        return
    with Hierarchy.open(path) as hierarchy:
        yield hierarchy
