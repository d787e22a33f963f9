"""The result of parsing one dump: registrations, organisations and findings as columns.

Theory of operation
-------------------
A registry dump has millions of paragraphs. One Python object per paragraph would take longer to create than
the text takes to parse, so a parsed dump is a handful of numpy arrays, one per attribute, and a row number
stands for a registration. A `Finding` or a `Subnet` object is made only for rows that are looked at.

Texts are not split into strings either. All of them lie in one array of UTF-8 bytes. A row stores where its
texts start and the length of each; the texts of a row follow each other, so one offset serves all.

A dump arrives as chunks. Compiled code parses each chunk into a `Sheet` (scratch tables with 32-bit offsets,
counted from the start of the chunk), and a `Gatherer` appends sheets in the order of the dump, raising
offsets and line numbers by what was gathered before. `join` does the same with whole dumps. Two invariants
follow:

1. Rows, findings and texts are in the order of the input, whatever the number of threads that parsed it.
2. `tally` counts every paragraph exactly once, because only sheets carry counts and each is added once.

`Columns.of` takes the gatherer's memory over without a copy; `native/parse/gatherer.c` says how it grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.finding import FATE_OF, Finding, Reason, Tally
from ipmicra.native import kernels
from ipmicra.parse.fields import ORGANISATION_TEXTS, STORED_TEXTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Columns that registrations of both families and organisations share."""

    text: NDArray[np.uint64]
    """Offset of the row's first text; the others follow it."""
    lengths: NDArray[np.uint16]
    """Length of each text in bytes, (row, text)."""
    country: NDArray[np.uint16]
    """Two letters as first << 8 | second, 0 for none."""
    date: NDArray[np.uint16]
    """Days since `subnet.DAY_ZERO`, 0 for none."""
    line: NDArray[np.uint32]
    registry: NDArray[np.uint8]
    holder: NDArray[np.uint8]

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Findings of one dump, as columns."""

    line: NDArray[np.uint32]
    reason: NDArray[np.uint8]
    text: NDArray[np.uint64]
    length: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One parsed dump."""

    first4: NDArray[np.uint32]
    last4: NDArray[np.uint32]
    rows4: Rows
    wide6: NDArray[np.uint64]
    """First high, first low, last high, last low, (row, 4)."""
    rows6: Rows
    organisations: Rows
    findings: Findings
    text: NDArray[np.uint8]
    """All texts, in UTF-8."""
    tally: Tally
    lines: int

    @classmethod
    def of(cls, gatherer: kernels.Gatherer) -> Self:
        """Take over everything that a gatherer holds; it is empty afterwards."""
        lines, fates, _rows = gatherer.counts()
        buffers = iter(gatherer.finish())  # in the order of the columns in `native/parse/gatherer.h`

        def column(number_type: type[np.generic], *width: int) -> NDArray[Any]:
            values: NDArray[Any] = np.frombuffer(memoryview(next(buffers)), number_type)
            return values.reshape(-1, *width)

        def rows(texts: int) -> Rows:
            return Rows(
                text=column(np.uint64),
                lengths=column(np.uint16, texts),
                country=column(np.uint16),
                date=column(np.uint16),
                line=column(np.uint32),
                registry=column(np.uint8),
                holder=column(np.uint8),
            )

        return cls(
            first4=column(np.uint32),
            last4=column(np.uint32),
            rows4=rows(STORED_TEXTS),
            wide6=column(np.uint64, 4),
            rows6=rows(STORED_TEXTS),
            organisations=rows(ORGANISATION_TEXTS),
            findings=Findings(
                line=column(np.uint32),
                reason=column(np.uint8),
                text=column(np.uint64),
                length=column(np.uint8),
            ),
            text=column(np.uint8),
            tally=tally_of(fates),
            lines=lines,
        )

    def spell_findings(self, dump: str) -> list[Finding]:
        """Return all findings, in line order."""
        order = np.argsort(self.findings.line, kind="stable")
        return [self.spell_finding(int(i), dump) for i in order]

    def spell_finding(self, i: int, dump: str) -> Finding:
        """Return finding number `i`."""
        reason = Reason(int(self.findings.reason[i]))
        start = int(self.findings.text[i])
        detail = self.text[start : start + int(self.findings.length[i])].tobytes()
        return Finding(
            dump=dump,
            line=int(self.findings.line[i]),
            fate=FATE_OF[reason],
            reason=reason,
            detail=detail.decode("utf-8", "replace"),
        )


def tally_of(fates: tuple[int, int, int, int]) -> Tally:
    """Name the counts of a gatherer, which are in the order of `Fate`."""
    kept, repaired, skipped, unknown = fates
    return Tally(kept=kept, repaired=repaired, skipped=skipped, unknown=unknown)
