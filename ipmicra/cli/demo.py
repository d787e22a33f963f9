"""`ipmicra demo`: the whole path on this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ipmicra.app.demo import DEMO_ADDRESSES, sample_dumps
from ipmicra.app.lookups import lineage_of, open_hierarchy
from ipmicra.app.targets import Target, read_target
from ipmicra.cli.build import print_report
from ipmicra.cli.lookup import print_lineage
from ipmicra.cli.output import say


def demo(
    dumps: Annotated[
        Path | None,
        typer.Option(
            "--dumps",
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Folder of dumps; by default the samples.",
        ),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="FILE", help="Keep the hierarchy in this file.")
    ] = None,
) -> None:
    """Build a hierarchy from the sample dumps and look addresses up in it."""
    from ipmicra.app.build import build

    paths = sample_dumps(dumps)
    with tempfile.TemporaryDirectory(prefix="ipmicra-demo-") as folder:
        output = keep or Path(folder) / "hierarchy.ipm"
        say(f"building a hierarchy from {len(paths)} dumps in {paths[0].parent}")
        print_report(build(paths, output, say=say))
        hierarchy = open_hierarchy(output)
        for address in DEMO_ADDRESSES:
            typer.echo(f"\n$ ipmicra lookup {address}")
            for target in read_target(address, lambda _name: []):
                if isinstance(target, Target):
                    print_lineage(target, lineage_of(hierarchy, target))
    if keep:
        say(f"kept: try `ipmicra lookup --hierarchy {keep} {DEMO_ADDRESSES[0]}`")
