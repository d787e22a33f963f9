"""Links between sites: `source,target[,links]` by host."""

from __future__ import annotations

from pathlib import Path

from ipmicra.edge.files.fields import Fields
from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import read_records
from ipmicra.errors import InputError


def read_links(path: Path) -> tuple[list[str], list[str], list[float]]:
    """Read sources, targets and how many links there are from one to the other, one if the table is silent.

    Raises:
        InputError: It cannot be read, or a number of links makes no sense.
    """
    sources, targets, counts = [], [], []
    for where, record in read_records(path, ("source", "target")):
        count = Fields(record, where, _refuse).number("links")
        sources.append(host_of(record["source"]))
        targets.append(host_of(record["target"]))
        counts.append(1.0 if count is None else count)
    return sources, targets, counts


def _refuse(finding: str) -> None:
    raise InputError(finding)
