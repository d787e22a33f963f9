"""The tables of a crawl: a row for each page, and one for each link."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path

from ipmicra.edge.crawl_node.outputs import Outputs
from ipmicra.model.foreign_text import csv_line


class Change(StrEnum):
    """How a page compares with the last time."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    NONE = ""
    """It is no page: a redirect, an error, another content type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A response, or why there was none."""

    url: str
    status: int
    """0 if there was no response; `problem` says why."""
    depth: int
    content_type: str
    bytes: int
    change: str
    links: int
    first_byte_ms: float | None
    fetched: str
    """UTC, as in 2026-11-17T09:30:00Z."""
    warc: str
    """File and offset of its record, as in `fra-0001-00001.warc.gz:1234`."""
    problem: str


LINK_COLUMNS = ("source", "target", "foreign")
PAGE_COLUMNS = tuple(one.name for one in fields(PageRow))


class TableOutput:
    """The two tables of a turn."""

    def __init__(self, outputs: Outputs, prefix: str) -> None:
        """Continue, or write the heads."""
        self._pages = outputs.file(f"{prefix}-pages.csv")
        self._links = outputs.file(f"{prefix}-links.csv")
        for file, columns in ((self._pages, PAGE_COLUMNS), (self._links, LINK_COLUMNS)):
            if not file.length:
                file.write(_line(columns))

    def add_page(self, row: PageRow) -> None:
        """Append a page."""
        self._pages.write(_line([getattr(row, name) for name in PAGE_COLUMNS]))

    def add_links(self, source: str, links: Iterable[tuple[str, bool]]) -> None:
        """Append the links of a page: URL, and whether it belongs to another crawler."""
        for target, is_foreign in links:
            self._links.write(_line([source, target, "yes" if is_foreign else "no"]))


def _line(cells: Sequence[object]) -> bytes:
    return csv_line(cells).encode()


def to_parquet(path: Path) -> Path:
    """Write a complete table once more, as Parquet."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    place = path.with_suffix(".parquet")
    beside = place.with_name(place.name + ".part")
    texts = {"url", "content_type", "change", "warc", "problem", "source", "target", "foreign", "fetched"}
    with path.open(newline="", encoding="utf-8") as file:
        columns = next(csv.reader(file))
    options = arrow_csv.ConvertOptions(
        column_types={name: pa.string() for name in columns if name in texts}, strings_can_be_null=False
    )
    parquet.write_table(arrow_csv.read_csv(path, convert_options=options), beside)
    beside.replace(place)
    return place
