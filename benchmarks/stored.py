"""Load and save results as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import Row
from ipmicra.edge.hierarchy_file import write_atomically

BUSY_CORES = 0.25
"""Cores used by other processes from which the machine counts as busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that were measured together, with facts about the run."""

    title: str
    measured: str
    """Day, ISO 8601."""
    machine: dict[str, str]
    sizes: dict[str, Any]
    rows: tuple[Row, ...]
    commit: str = ""
    """Short hash of the measured commit, followed by `changed` if files differed from it."""
    load: float | None = None
    """Load average of the last minute when the group started, which includes earlier groups."""
    others_cores: float | None = None
    """Cores that other processes and other virtual machines kept busy meanwhile."""
    seconds: float | None = None
    """Wall-clock time of the group."""
    processor_s: float | None = None
    """Processor time of the group, including children."""
    failure: str = ""
    """Why the last attempt failed; the rows are then from the previous one."""
    gone: tuple[str, ...] = ()
    """Rows that only the previous run had."""

    @property
    def is_disturbed(self) -> bool:
        """Return whether other processes used so much of the machine that times suffer."""
        return self.others_cores is not None and self.others_cores >= BUSY_CORES

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Group:
        """Create a group from the output of `dataclasses.asdict`; older results lack some fields."""
        rows = tuple(Row.from_json(row) for row in stored["rows"])
        return cls(**{**stored, "rows": rows, "gone": tuple(stored.get("gone", ()))})


def as_json(one: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return a record as JSON data, without fields that have their default value."""
    if isinstance(one, tuple):
        return [as_json(part) for part in one]
    if not is_dataclass(one):
        return one
    parts = {field.name: (getattr(one, field.name), field.default) for field in fields(one)}
    return {name: as_json(value) for name, (value, default) in parts.items() if value != default}


def load(path: Path) -> dict[str, Group]:
    """Read stored results; none if there are none yet."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {name: Group.from_json(group) for name, group in stored.items()}


def save(groups: Mapping[str, Group], path: Path) -> None:
    """Write results atomically."""
    stored = {name: as_json(group) for name, group in groups.items()}
    text = json.dumps(stored, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, [text.encode()])
