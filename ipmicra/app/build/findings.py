"""The findings of a build, and the dumps they came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ipmicra.app.describe.hierarchy import describe_finding
from ipmicra.edge.hierarchy_file import write_atomically
from ipmicra.hierarchy.assemble import Assembled
from ipmicra.model.finding import Fate, Finding, Reason
from ipmicra.model.foreign_text import json_text
from ipmicra.parse.columns import Columns


class Origins:
    """Maps rows and findings to their dumps."""

    def __init__(self, names: list[str], edges: dict[str, list[int]], columns: Columns) -> None:
        """Store where each dump's rows start, and of the columns nothing but the lines."""
        self._names = names
        self._edges = edges
        self._lines = {4: columns.rows4.line, 6: columns.rows6.line}

    def of_row(self, family: int, row: int) -> tuple[str, int]:
        """Return dump and line of a registration."""
        return self._name(f"rows{family}", row), int(self._lines[family][row])

    def of_finding(self, i: int) -> str:
        """Return the dump of a finding."""
        return self._name("findings", i)

    def _name(self, table: str, i: int) -> str:
        return self._names[int(np.searchsorted(self._edges[table], i, side="right")) - 1]


class FindingList(Sequence[Finding]):
    """All findings of a build, created on access: there may be millions."""

    def __init__(self, columns: Columns, origins: Origins, assembled: Assembled) -> None:
        """Store what findings are made of; create none yet."""
        self._found, self._texts = columns.findings, columns.texts
        self._origins = origins
        self._rows = (
            (Reason.DUPLICATE, assembled.tree4.duplicates, 4),
            (Reason.DUPLICATE, assembled.tree6.duplicates, 6),
            (Reason.OVERLAP, assembled.tree4.cuts, 4),
            (Reason.OVERLAP, assembled.tree6.cuts, 6),
            (Reason.TOO_MANY_OVERLAPS, assembled.tree4.left_out[:, np.newaxis], 4),
            (Reason.TOO_MANY_OVERLAPS, assembled.tree6.left_out[:, np.newaxis], 6),
        )

    def __len__(self) -> int:
        """Count the findings."""
        return len(self._found.line) + sum(len(rows) for _reason, rows, _family in self._rows)

    @overload
    def __getitem__(self, i: int) -> Finding: ...

    @overload
    def __getitem__(self, i: slice) -> list[Finding]: ...

    def __getitem__(self, i: int | slice) -> Finding | list[Finding]:
        """Return one finding, or a list of several."""
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        if i < len(self._found.line):
            return self._found.spell(i, self._origins.of_finding(i), self._texts)
        i -= len(self._found.line)
        for reason, rows, family in self._rows:
            if i < len(rows):
                return self._spell_rows(reason, rows[i], family)
            i -= len(rows)
        raise IndexError(i)

    def counts(self) -> dict[Reason, int]:
        """Return the number of findings by reason, most frequent first."""
        counts = np.bincount(self._found.reason, minlength=len(Reason) + 1)
        for reason, rows, _family in self._rows:
            counts[reason] += len(rows)
        return {
            Reason(int(code)): int(counts[code])
            for code in np.argsort(-counts, kind="stable")
            if counts[code]
        }

    def first_of(self, reason: Reason) -> Finding:
        """Return the first finding with a reason."""
        found = np.flatnonzero(self._found.reason == reason)
        if len(found):
            return self[int(found[0])]
        return next(
            self._spell_rows(reason, rows[0], family)
            for rows_reason, rows, family in self._rows
            if rows_reason is reason and len(rows)
        )

    def _spell_rows(self, reason: Reason, rows: NDArray[np.int64], family: int) -> Finding:
        """Return a finding that names the registration and, if there is one, the other."""
        (dump, line), *others = (self._origins.of_row(family, int(row)) for row in rows)
        detail = "".join(f"{other_dump}:{other_line}" for other_dump, other_line in others)
        return Finding(dump=dump, line=line, fate=Fate.KEPT, reason=reason, detail=detail)


def write_findings(findings: FindingList, path: Path) -> None:
    """Write every finding as a line of JSON; the file appears when it is complete."""
    write_atomically(path, (_json_line(describe_finding(finding)) for finding in findings))


def _json_line(record: dict[str, Any]) -> bytes:
    return json_text(record).encode() + b"\n"
