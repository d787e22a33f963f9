"""The result of parsing one dump: registrations, organisations and findings as columns.

Theory of operation
-------------------
A registry dump has millions of paragraphs. One Python object per paragraph would take longer to create than
the text takes to parse, so a parsed dump is a handful of numpy arrays, one per attribute, and a row number
stands for a registration. A `Finding` or a `Subnet` object is made only for rows that are looked at.

Texts are not split into strings either. All of them lie behind each other in one array of UTF-8 bytes, each
distinct text once, and a row stores the numbers of its texts. Dumps repeat themselves: with a copy per row
the texts of an APNIC-like dump took 238 MB, with one per text 37 MB (decision 0140).

A dump arrives as chunks. Compiled code parses each chunk into a `Sheet` (scratch tables with 32-bit offsets,
counted from the start of the chunk), and a `Gatherer` appends sheets in the order of the dump, numbering
texts and raising line numbers by what was gathered before. `join` does the same with whole dumps. Two
invariants follow:

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
from ipmicra.parse.fields import ORGANISATION_TEXTS, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Texts by number; 0 is the empty one."""

    data: NDArray[np.uint8]
    """All texts behind each other, in UTF-8."""
    ends: NDArray[np.uint64]
    """Where each text ends in `data`; the first is 0. Empty if there are no texts."""

    def __len__(self) -> int:
        """Return the largest number."""
        return max(len(self.ends) - 1, 0)

    def total_size(self, numbers: NDArray[np.uint32]) -> int:
        """Return how many bytes some texts have together."""
        numbers = numbers[numbers > 0]
        return int((self.ends[numbers] - self.ends[numbers - 1]).sum())

    def spell(self, number: int) -> str:
        """Return a text."""
        if number == 0:
            return ""
        start, end = int(self.ends[number - 1]), int(self.ends[number])
        return self.data[start:end].tobytes().decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Columns that registrations of both families and organisations share."""

    texts: tuple[NDArray[np.uint32], ...]
    """Numbers of texts, one column per `Text`; handle, name and address of organisations.

    A rare kind that no row has is an empty column."""
    country: NDArray[np.uint16]
    """Two letters as first << 8 | second, 0 for none."""
    date: NDArray[np.uint16]
    """Days since `subnet.DAY_ZERO`, 0 for none."""
    line: NDArray[np.uint32]
    registry: NDArray[np.uint8]
    holder: NDArray[np.uint8]
    """How the holder was recognised, a `HolderEvidence`."""
    detail: NDArray[np.uint8]
    """Number of values that the paragraph had, also of those that are not kept."""

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.country)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Findings of one dump, as columns."""

    line: NDArray[np.uint32]
    reason: NDArray[np.uint8]
    text: NDArray[np.uint32]

    def spell(self, i: int, dump: str, texts: Texts) -> Finding:
        """Return finding number `i`."""
        reason = Reason(int(self.reason[i]))
        return Finding(
            dump=dump,
            line=int(self.line[i]),
            fate=FATE_OF[reason],
            reason=reason,
            detail=texts.spell(int(self.text[i])),
        )


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
    texts: Texts
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
                country=column(np.uint16),
                date=column(np.uint16),
                line=column(np.uint32),
                registry=column(np.uint8),
                holder=column(np.uint8),
                detail=column(np.uint8),
                texts=tuple(column(np.uint32) for _ in range(texts)),
            )

        return cls(
            first4=column(np.uint32),
            last4=column(np.uint32),
            rows4=rows(len(Text)),
            wide6=column(np.uint64, 4),
            rows6=rows(len(Text)),
            organisations=rows(ORGANISATION_TEXTS),
            findings=Findings(
                line=column(np.uint32),
                reason=column(np.uint8),
                text=column(np.uint32),
            ),
            texts=Texts(data=column(np.uint8), ends=column(np.uint64)),
            tally=tally_of(fates),
            lines=lines,
        )

    def spell_findings(self, dump: str) -> list[Finding]:
        """Return all findings, in line order."""
        order = np.argsort(self.findings.line, kind="stable")
        return [self.findings.spell(int(i), dump, self.texts) for i in order]


def tally_of(fates: tuple[int, int, int, int]) -> Tally:
    """Name the counts of a gatherer, which are in the order of `Fate`."""
    kept, repaired, skipped, unknown = fates
    return Tally(kept=kept, repaired=repaired, skipped=skipped, unknown=unknown)
