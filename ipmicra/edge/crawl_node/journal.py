"""What came of requests that are not finished yet.

Records, rows and knowledge of pages go to files and frontier together with the end of their request, in one
commit. If they were written when they arise, a kill between the two would leave them there twice after the
page was fetched again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ipmicra.edge.crawl_node.frontier import Frontier, KnownPage
from ipmicra.edge.crawl_node.tables import PageRow, TableOutput
from ipmicra.edge.crawl_node.warc import Exchanged, WarcOutput


@dataclass(slots=True)
class _Entry:
    exchanged: list[Exchanged] = field(default_factory=list)
    rows: list[PageRow] = field(default_factory=list)
    links: list[tuple[str, list[tuple[str, bool]]]] = field(default_factory=list)
    pages: list[KnownPage] = field(default_factory=list)


class Journal:
    """Keeps what came of each row of the frontier until the row is finished."""

    def __init__(self, frontier: Frontier, table: TableOutput, warc: WarcOutput | None) -> None:
        """Write into a frontier, tables, and WARC files if there are any."""
        self._frontier, self._table, self._warc = frontier, table, warc
        self._open: dict[int, _Entry] = {}

    def add_exchange(self, row: int | None, one: Exchanged) -> None:
        """Take a response; one that belongs to no row, such as a robots.txt, is written at once."""
        if self._warc is None:
            return
        if row is None:
            self._warc.write(one)
        else:
            self._entry(row).exchanged.append(one)

    def add_page(self, row: int, page: PageRow, known: KnownPage | None = None) -> None:
        """Take the row of a page in the table, and what is known of the page from now on."""
        self._entry(row).rows.append(page)
        if known is not None:
            self._entry(row).pages.append(known)

    def add_links(self, row: int, source: str, links: Iterable[tuple[str, bool]]) -> None:
        """Take the links of a page: URL, and whether it belongs to another crawler."""
        self._entry(row).links.append((source, list(links)))

    def settle(self, row: int) -> None:
        """Write what came of a row that is finished, or is tried again."""
        entry = self._open.pop(row, None)
        if entry is None:
            return
        place = ""
        for one in entry.exchanged:
            if self._warc is not None:
                name, offset = self._warc.write(one)
                place = f"{name}:{offset}"
        for page in entry.rows:
            self._table.add_page(replace(page, warc=place))
        for source, links in entry.links:
            self._table.add_links(source, links)
        for known in entry.pages:
            self._frontier.keep_page(known)

    def _entry(self, row: int) -> _Entry:
        return self._open.setdefault(row, _Entry())
