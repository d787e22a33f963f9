"""Results as they are kept from run to run, in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import Row
from ipmicra.edge.hierarchy_file import write_atomically

BUSY_CORES = 0.25
"""From here on the machine counts as busy with other things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that are measured together, and what there is to know of the run."""

    title: str
    measured: str
    """Day, ISO 8601."""
    machine: dict[str, str]
    sizes: dict[str, Any]
    rows: tuple[Row, ...]
    commit: str = ""
    """Short hash of the code that was measured; `changed` behind it where files differed from it."""
    load: float | None = None
    """Load average of the last minute when the group was begun; the groups before it have a part in it."""
    others_cores: float | None = None
    """Cores that other processes and other virtual machines kept busy meanwhile."""
    seconds: float | None = None
    """What the group took, by the clock."""
    processor_s: float | None = None
    """What the group took of the processor, children included."""
    failure: str = ""
    """Why the last attempt failed; the rows are then those of the attempt before."""
    gone: tuple[str, ...] = ()
    """Rows that the run before had and this one has not."""

    @property
    def is_disturbed(self) -> bool:
        """Tell whether others used so much of the machine that times suffer."""
        return self.others_cores is not None and self.others_cores >= BUSY_CORES

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Group:
        """Make a group of what `dataclasses.asdict` made of it; older results lack some of it."""
        rows = tuple(Row.from_json(row) for row in stored["rows"])
        return cls(**{**stored, "rows": rows, "gone": tuple(stored.get("gone", ()))})


def told(one: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Give what JSON needs to know of a record: what is as it would be anyway is left out."""
    if isinstance(one, tuple):
        return [told(part) for part in one]
    if not is_dataclass(one):
        return one
    parts = {field.name: (getattr(one, field.name), field.default) for field in fields(one)}
    return {name: told(value) for name, (value, default) in parts.items() if value != default}


def load(path: Path) -> dict[str, Group]:
    """Read stored results; none if there are none yet."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {name: Group.from_json(group) for name, group in stored.items()}


def save(groups: Mapping[str, Group], path: Path) -> None:
    """Write results, all or none."""
    stored = {name: told(group) for name, group in groups.items()}
    text = json.dumps(stored, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, [text.encode()])
