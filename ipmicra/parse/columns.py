"""The result of parsing one dump: registrations, organisations and findings as columns.

Theory of operation
-------------------
A registry dump has millions of paragraphs. One Python object per paragraph would take longer to create than
the text takes to parse, so a parsed dump is a handful of numpy arrays, one per attribute, and a row number
stands for a registration. A `Finding` or a `Subnet` object is made only for rows that somebody looks at.

Texts are not split into strings either. All of them lie in one array of UTF-8 bytes. A row stores where its
texts start and the length of each; the texts of a row follow each other, so one offset serves all.

A dump arrives as chunks. Kernels parse each chunk into a `Sheet` (scratch tables with 32-bit offsets,
counted from the start of the chunk), and a `Gatherer` appends sheets in the order of the dump, raising
offsets and line numbers by what was gathered before. `join` does the same with whole dumps. Two invariants
follow:

1. Rows, findings and texts are in the order of the input, whatever the number of threads that parsed it.
2. `tally` counts every paragraph exactly once, because only sheets carry counts and each is added once.

Columns grow in place (`_Growing`) instead of being concatenated at the end: concatenating would need every
column twice at the moment of peak memory. Capacity grows by a quarter at a time through `ndarray.resize`,
that is `realloc`, which for large blocks remaps pages instead of copying them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.model.finding import FATE_OF, Finding, Reason, Tally
from ipmicra.parse import sheets
from ipmicra.parse.fields import ORGANISATION_TEXTS, STORED_TEXTS
from ipmicra.parse.sheets import Sheet


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


class _Growing:
    """A column that grows in place, so that appending never copies it as a whole."""

    def __init__(self, dtype: type[np.generic], *width: int) -> None:
        self._data = np.empty((0, *width), dtype)
        self._size = 0

    def extend(self, values: NDArray[Any], base: int = 0) -> None:
        """Append rows, adding a base to each value."""
        needed = self._size + len(values)
        if needed > len(self._data):
            room = max(needed, len(self._data) * 5 // 4)
            self._data.resize((room, *self._data.shape[1:]), refcheck=False)
        target = self._data[self._size : needed]
        target[...] = values
        if base:
            target += self._data.dtype.type(base)
        self._size = needed

    def reserve(self, times: float) -> None:
        """Reserve space for `times` the present size; untouched pages cost no memory."""
        room = int(self._size * times)
        if room > len(self._data):
            larger = np.empty((room, *self._data.shape[1:]), self._data.dtype)
            larger[: self._size] = self._data[: self._size]
            self._data = larger

    def finish(self) -> NDArray[Any]:
        """Return the rows, without spare capacity."""
        self._data.resize((self._size, *self._data.shape[1:]), refcheck=False)
        return self._data


class _Group:
    """Columns that grow together."""

    def reserve(self, times: float) -> None:
        """Reserve space for `times` the present size."""
        for part in vars(self).values():
            if isinstance(part, _Growing | _Group):
                part.reserve(times)


class _GrowingRows(_Group):
    """Growing columns for `Rows`."""

    def __init__(self, texts: int) -> None:
        self._texts = texts
        self._text, self._lengths = _Growing(np.uint64), _Growing(np.uint16, texts)
        self._country, self._date = _Growing(np.uint16), _Growing(np.uint16)
        self._line = _Growing(np.uint32)
        self._registry, self._holder = _Growing(np.uint8), _Growing(np.uint8)

    def extend(self, rows: NDArray[np.uint32], text_base: int, line_base: int) -> None:
        """Append rows of a sheet, whose offsets and lines are relative to a base."""
        self._text.extend(rows[:, sheets.AT], text_base)
        self._lengths.extend(rows[:, sheets.LENGTHS : sheets.LENGTHS + self._texts])
        self._country.extend(rows[:, sheets.COUNTRY])
        self._date.extend(rows[:, sheets.DATE])
        self._line.extend(rows[:, sheets.LINE], line_base)
        self._registry.extend(rows[:, sheets.REGISTRY])
        self._holder.extend(rows[:, sheets.HOLDER])

    def join(self, rows: Rows, text_base: int) -> None:
        """Append the rows of another dump."""
        self._text.extend(rows.text, text_base)
        self._lengths.extend(rows.lengths)
        self._country.extend(rows.country)
        self._date.extend(rows.date)
        self._line.extend(rows.line)
        self._registry.extend(rows.registry)
        self._holder.extend(rows.holder)

    def finish(self) -> Rows:
        """Return the columns."""
        return Rows(
            text=self._text.finish(),
            lengths=self._lengths.finish(),
            country=self._country.finish(),
            date=self._date.finish(),
            line=self._line.finish(),
            registry=self._registry.finish(),
            holder=self._holder.finish(),
        )


class _GrowingFindings(_Group):
    """Growing columns for `Findings`."""

    def __init__(self) -> None:
        self._line, self._reason = _Growing(np.uint32), _Growing(np.uint8)
        self._text, self._length = _Growing(np.uint64), _Growing(np.uint8)

    def extend(self, findings: NDArray[np.uint32], text_base: int, line_base: int) -> None:
        """Append findings of a sheet, whose offsets and lines are relative to a base."""
        self._line.extend(findings[:, sheets.FINDING_LINE], line_base)
        self._reason.extend(findings[:, sheets.FINDING_REASON])
        self._text.extend(findings[:, sheets.FINDING_AT], text_base)
        self._length.extend(findings[:, sheets.FINDING_LENGTH])

    def join(self, findings: Findings, text_base: int) -> None:
        """Append the findings of another dump."""
        self._line.extend(findings.line)
        self._reason.extend(findings.reason)
        self._text.extend(findings.text, text_base)
        self._length.extend(findings.length)

    def finish(self) -> Findings:
        """Return the columns."""
        return Findings(
            line=self._line.finish(),
            reason=self._reason.finish(),
            text=self._text.finish(),
            length=self._length.finish(),
        )


class Gatherer(_Group):
    """Appends sheets until a dump is complete."""

    def __init__(self) -> None:
        """Start with no rows."""
        self._first4, self._last4 = _Growing(np.uint32), _Growing(np.uint32)
        self._wide6 = _Growing(np.uint64, 4)
        self._rows4, self._rows6 = _GrowingRows(STORED_TEXTS), _GrowingRows(STORED_TEXTS)
        self._organisations = _GrowingRows(ORGANISATION_TEXTS)
        self._findings = _GrowingFindings()
        self._text = _Growing(np.uint8)
        self._counts = np.zeros(sheets.COUNTS, np.int64)

    @property
    def lines(self) -> int:
        """Lines gathered so far."""
        return int(self._counts[sheets.LINES])

    def add(self, sheet: Sheet) -> None:
        """Append the sheet that a kernel filled."""
        counts = sheet.counts
        base, line = int(self._counts[sheets.TEXT]), self.lines
        rows4 = sheet.rows4[: counts[sheets.ROWS4]]
        self._first4.extend(rows4[:, sheets.FIRST])
        self._last4.extend(rows4[:, sheets.LAST])
        self._rows4.extend(rows4, base, line)
        self._wide6.extend(sheet.wide6[: counts[sheets.ROWS6]])
        self._rows6.extend(sheet.rows6[: counts[sheets.ROWS6]], base, line)
        self._organisations.extend(sheet.organisations[: counts[sheets.ORGANISATIONS]], base, line)
        self._findings.extend(sheet.findings[: counts[sheets.FINDINGS]], base, line)
        self._text.extend(sheet.text[: counts[sheets.TEXT]])
        self._counts += counts

    def join(self, columns: Columns) -> None:
        """Append another dump; the tallies add up."""
        base = int(self._counts[sheets.TEXT])
        self._first4.extend(columns.first4)
        self._last4.extend(columns.last4)
        self._rows4.join(columns.rows4, base)
        self._wide6.extend(columns.wide6)
        self._rows6.join(columns.rows6, base)
        self._organisations.join(columns.organisations, base)
        self._findings.join(columns.findings, base)
        self._text.extend(columns.text)
        tally = columns.tally
        self._counts[sheets.TEXT] += len(columns.text)
        self._counts[sheets.LINES] += columns.lines
        self._counts[sheets.KEPT :] += (tally.kept, tally.repaired, tally.skipped, tally.unknown)

    def finish(self) -> Columns:
        """Return the columns of the whole dump."""
        kept, repaired, skipped, unknown = (int(count) for count in self._counts[sheets.KEPT :])
        return Columns(
            first4=self._first4.finish(),
            last4=self._last4.finish(),
            rows4=self._rows4.finish(),
            wide6=self._wide6.finish(),
            rows6=self._rows6.finish(),
            organisations=self._organisations.finish(),
            findings=self._findings.finish(),
            text=self._text.finish(),
            tally=Tally(kept=kept, repaired=repaired, skipped=skipped, unknown=unknown),
            lines=self.lines,
        )
