"""The hierarchy as a library: addresses in, subnets and their relations out.

Theory of operation
-------------------
A hierarchy is a set of columns in a file, usually memory-mapped, and stays that way: opening reads the
header and the section table only, and every method touches just the numbers it needs. A subnet is a row
number; `Subnet` objects are created for callers and never kept.

Rows are in preorder, IPv4 before IPv6. This one property replaces all pointers but `parent`:

- the descendants of a row are the rows behind it, up to the first that starts after its end (one
  bisection);
- children are the descendants whose parent is the row;
- the lineage of a row is found by following `parent`, which always points to a smaller row.

IPv4 addresses are looked up in `segments`, the address space flattened into pieces with one narrowest
subnet each, so no climbing is necessary; `finder` does this for single addresses, `many` for arrays. IPv6
has no segments: a bisection by start, then a climb to the first ancestor that contains the address.

A file may be damaged or hostile. Section bounds are checked at open; values inside sections are checked
where they are used (a parent must precede its child, a code must be listed), so that any bad byte raises
`CorruptHierarchyError` or is never read. Checking everything at open would touch every page of the file.

numpy is imported inside methods, so that a program that looks up single addresses does not wait for its
import.
"""

from __future__ import annotations

import datetime
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from typing import TYPE_CHECKING, Any

from ipmicra.errors import CorruptHierarchyError, InputError
from ipmicra.hierarchy import format as names
from ipmicra.hierarchy.finder import new_finder
from ipmicra.hierarchy.organisations import Organisations
from ipmicra.hierarchy.rendering import Renderer
from ipmicra.hierarchy.row_texts import RowTexts
from ipmicra.hierarchy.sections import Sections, read_text
from ipmicra.model.address import AnyAddress
from ipmicra.model.edition import DumpRecord, Edition
from ipmicra.model.organisation import Organisation
from ipmicra.model.registry import Registry
from ipmicra.model.subnet import DAY_ZERO, Subnet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ipmicra.hierarchy.many import Addresses


class Hierarchy:
    """A tree of subnets, read from any buffer that contains a hierarchy file.

    Subnets are numbered by row: IPv4 first, then IPv6, each in preorder, so a subnet's descendants
    follow it. A hierarchy is immutable: threads may share one.
    """

    def __init__(self, buffer: bytes | bytearray | memoryview) -> None:
        """Check header and section table."""
        self._sections = Sections(memoryview(buffer))
        self._finder = new_finder(self._sections)
        self._rows4 = self._sections.layout.sections[names.BOUNDS4].count // 2
        self._count = self._sections.layout.sections[names.PARENT].count
        self._views = self._sections.views
        self._parent = self._views[names.PARENT]
        self._organisations = Organisations(self._sections)
        self._renderer: Renderer | None = None
        self.row_of = self._finder.row_of
        """Return the row of the narrowest subnet that contains an address, given as text."""

    def __len__(self) -> int:
        """Count the subnets."""
        return self._count

    def __repr__(self) -> str:
        """Show the edition and its size."""
        return f"<Hierarchy {self.content_hash[:12]}: {self._count} subnets>"

    # --- what it is

    @property
    def organisations(self) -> Organisations:
        """The organisations, by number."""
        self._check_buffer()
        return self._organisations

    @property
    def content_hash(self) -> str:
        """Hash of subnets and holders, in hexadecimal."""
        return self._sections.layout.content_hash.hex()

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Counts, tally and dumps as recorded by the build."""
        self._check_buffer()
        try:
            meta = json.loads(bytes(self._views[names.META]))
        except ValueError as error:
            offset = self._sections.layout.sections[names.META].offset
            raise CorruptHierarchyError(offset, f"the metadata cannot be read: {error}") from error
        return meta if isinstance(meta, dict) else {}

    @property
    def edition(self) -> Edition:
        """The edition: content hash and dumps."""
        try:
            dumps = tuple(
                DumpRecord(
                    name=str(dump["name"]),
                    dialect=str(dump["dialect"]),
                    date=str(dump["date"]),
                    size_bytes=int(dump["size_bytes"]),
                )
                for dump in self.meta.get("dumps", [])
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            offset = self._sections.layout.sections[names.META].offset
            raise CorruptHierarchyError(offset, f"the list of dumps cannot be read: {error}") from error
        return Edition(content_hash=self.content_hash, dumps=dumps)

    def verify(self) -> None:
        """Compare everything with the stored hashes; raise `CorruptHierarchyError` if a byte differs."""
        self._check_buffer()
        for section in self._sections.damaged():
            raise CorruptHierarchyError(section.offset, f"section {section.name!r} is damaged")

    # --- addresses to subnets

    def lookup(self, address: AnyAddress) -> Subnet:
        """Return the narrowest subnet that contains an address; the root for unregistered addresses."""
        self._check_buffer()
        return self._subnet_of(self._finder.row_of(address))

    def lookup_many(self, addresses: Addresses, out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
        """Return the row of the narrowest subnet of each address.

        Pass IPv4 addresses as an integer array, IPv6 addresses as (n, 2) of uint64 (high word
        first) or (n, 16) of uint8, and a mixture as texts (a sequence, an array of numpy or pyarrow) or
        `ipaddress` objects. If `out` is given, the rows are written into it.
        """
        self._check_buffer()
        from ipmicra.hierarchy.many import rows_of

        return rows_of(self._finder, addresses, out)

    @property
    def renderer(self) -> Renderer:
        """What finds and renders runs of addresses."""
        self._check_buffer()
        if self._renderer is None:
            self._renderer = Renderer(self._sections, self._finder)
        return self._renderer

    @property
    def row_texts(self) -> RowTexts:
        """What reads the texts of many rows."""
        self._check_buffer()
        return RowTexts(self._sections)

    def lineage(self, address: AnyAddress | Subnet) -> list[Subnet]:
        """Return all subnets that contain an address (or a subnet, itself included), widest first."""
        self._check_buffer()
        row = address.row if isinstance(address, Subnet) else self._finder.row_of(address)
        rows = self._lineage_rows(row)
        return [self._subnet(row, depth) for depth, row in enumerate(rows)]

    def lineage_rows(self, row: int) -> list[int]:
        """Return the rows from the root down to a row."""
        self._check_buffer()
        return self._lineage_rows(row)

    def _lineage_rows(self, row: int) -> list[int]:
        rows = [self._checked(row)]
        while (above := self._above(rows[-1])) != rows[-1]:
            rows.append(above)
        return rows[::-1]

    # --- relations between subnets, by row

    def parent(self, row: int) -> int | None:
        """Return the row of the parent, None for a root."""
        above = self._above(self._checked(row))
        return None if above == row else above

    def parent_many(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Return the parent of each row, -1 for a root."""
        self._check_buffer()
        import numpy as np

        above = self._picked(names.PARENT, rows).astype(np.int64)
        return np.where(above == rows, -1, above)

    def children(self, row: int) -> NDArray[np.int64]:
        """Return the rows of the subnets directly inside."""
        self._check_buffer()
        import numpy as np

        stop = self._behind_descendants(row)
        parents = self._sections.array(names.PARENT)[row + 1 : stop]
        return np.flatnonzero(parents == row) + row + 1

    def descendants(self, row: int) -> range:
        """Return the rows of all subnets inside, at any depth."""
        self._check_buffer()
        return range(row + 1, self._behind_descendants(row))

    def siblings(self, row: int) -> NDArray[np.int64]:
        """Return the rows of the other subnets directly inside the parent; none for a root."""
        self._check_buffer()
        above = self.parent(row)
        rows = self.children(row if above is None else above)
        return rows[:0] if above is None else rows[rows != row]

    def subnets_of(self, organisation: Organisation | int | str) -> NDArray[np.int64]:
        """Return the rows of an organisation's subnets; a string is a handle."""
        self._check_buffer()
        import numpy as np

        if isinstance(organisation, str):
            numbers = [found.number for found in self.organisations.by_handle(organisation)]
        else:
            numbers = [organisation.number if isinstance(organisation, Organisation) else organisation]
        held = self._sections.array(names.ORGANISATION)
        return np.flatnonzero(np.isin(held, numbers) if len(numbers) != 1 else held == numbers[0])

    def organisation_many(self, rows: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the organisation number of each row, 0 for none."""
        self._check_buffer()
        return self._picked(names.ORGANISATION, rows)

    def organisation_number(self, row: int) -> int:
        """Return the organisation number of a row, 0 for none."""
        return int(self._views[names.ORGANISATION][self._checked(row)])

    def country(self, row: int) -> str | None:
        """Return the two-letter country of a row, or None."""
        return self._country(self._checked(row))

    def registry_number(self, row: int) -> int:
        """Return the number of a row's registry (see `Registry`)."""
        return int(self._views[names.REGISTRY][self._checked(row)])

    def registry_many(self, rows: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the number of each row's registry (see `Registry`)."""
        self._check_buffer()
        return self._picked(names.REGISTRY, rows)

    def status_number(self, row: int) -> int:
        """Return the number of a row's status, 0 for none; rows of one status have the same."""
        return int(self._views[names.STATUS][self._checked(row)])

    def search(self, query: str, limit: int | None = None) -> list[Organisation]:
        """Return organisations whose handle or name contains a text, ignoring case."""
        if not query.strip():
            raise InputError("an empty query finds everything; pass part of a name or handle")
        if limit is not None and limit < 0:
            raise InputError(f"a limit of {limit} organisations makes no sense")
        return list(islice(self.organisations.search(query.strip()), limit))

    # --- rows to subnets

    def subnet(self, row: int) -> Subnet:
        """Return the subnet of a row."""
        self._check_buffer()
        return self._subnet_of(row)

    def subnets(self, rows: Iterable[int]) -> list[Subnet]:
        """Return the subnets of several rows."""
        self._check_buffer()
        return [self._subnet_of(int(row)) for row in rows]

    def bounds(self, row: int) -> tuple[IPv4Address, IPv4Address] | tuple[IPv6Address, IPv6Address]:
        """Return first and last address of a row."""
        if self._checked(row) < self._rows4:
            view = self._views[names.BOUNDS4]
            return IPv4Address(view[2 * row]), IPv4Address(view[2 * row + 1])
        view, at = self._views[names.BOUNDS6], 4 * (row - self._rows4)
        return IPv6Address(view[at] << 64 | view[at + 1]), IPv6Address(view[at + 2] << 64 | view[at + 3])

    def bounds_array(self, family: int) -> NDArray[Any]:
        """Return first and last of every subnet: (row, 2) of uint32, or for IPv6 (row, 4) of uint64."""
        self._check_buffer()
        if family == 4:  # noqa: PLR2004
            return self._sections.array(names.BOUNDS4).reshape(-1, 2)
        return self._sections.array(names.BOUNDS6).reshape(-1, 4)

    def registered_range(self, row: int) -> tuple[IPv4Address, IPv4Address] | tuple[IPv6Address, IPv6Address]:
        """Return the range as registered, of which the subnet may be a piece (see `docs/overlaps.md`)."""
        self._check_buffer()
        rows = self._views[names.CUT_ROWS]
        at = bisect_left(rows, self._checked(row))
        if at == len(rows) or rows[at] != row:
            return self.bounds(row)
        high, low, last_high, last_low = self._views[names.CUT_RANGES][4 * at : 4 * at + 4]
        if row < self._rows4:
            return IPv4Address(low & 0xFFFFFFFF), IPv4Address(last_low & 0xFFFFFFFF)
        return IPv6Address(high << 64 | low), IPv6Address(last_high << 64 | last_low)

    def _subnet_of(self, row: int) -> Subnet:
        return self._subnet(row, len(self._lineage_rows(row)) - 1)

    def _subnet(self, row: int, depth: int) -> Subnet:
        first, last = self.bounds(row)
        organisation = self._views[names.ORGANISATION][row]
        days = self._views[names.DATE][row]
        geoloc, geofeed, postal_address = self._geo(row)
        try:
            registry = Registry(self._views[names.REGISTRY][row])
        except ValueError as error:
            offset = self._sections.layout.sections[names.REGISTRY].offset
            raise CorruptHierarchyError(offset + row, str(error)) from error
        return Subnet(
            row=row,
            first=first,
            last=last,
            depth=depth,
            netname=self._name(self._views[names.NETNAME][row]),
            organisation=self._organisations[organisation] if organisation else None,
            registry=registry,
            country=self._country(row),
            status=self._status(row),
            date=DAY_ZERO + datetime.timedelta(days=days) if days else None,
            geoloc=geoloc,
            geofeed=geofeed,
            postal_address=postal_address,
        )

    def _name(self, at: int) -> str | None:
        """Read a text from the pool of names; 0 is the empty one."""
        return read_text(self._views[names.NAMES], at)[0] or None if at else None

    def _country(self, row: int) -> str | None:
        letters = self._code(names.COUNTRY, names.COUNTRIES, row)
        return chr(letters >> 8) + chr(letters & 0xFF) if letters else None

    def _status(self, row: int) -> str | None:
        return self._name(self._code(names.STATUS, names.STATUSES, row))

    def _code(self, column: str, values: str, row: int) -> int:
        """Return the value behind a code."""
        code, known = self._views[column][row], self._views[values]
        if code >= len(known):
            raise CorruptHierarchyError(
                self._sections.layout.sections[column].offset, f"{column} {code} is not listed"
            )
        return int(known[code])

    def _geo(self, row: int) -> tuple[str | None, str | None, str | None]:
        """Return geoloc, geofeed and postal address, which few subnets have."""
        rows = self._views[names.GEO_ROWS]
        at = bisect_left(rows, row)
        if at == len(rows) or rows[at] != row:
            return None, None, None
        places = [self._views[name][at] for name in (names.GEOLOC, names.GEOFEED, names.POSTAL)]
        geoloc, geofeed, postal_address = map(self._name, places)
        return geoloc, geofeed, postal_address

    def _check_buffer(self) -> None:
        """Check that all of the buffer can still be read; for whoever maps a file to override."""

    def _checked(self, row: int) -> int:
        """Raise unless a row exists."""
        if not 0 <= row < self._count:
            message = f"there is no row {row}: the hierarchy has {self._count}"
            raise InputError(message)
        return row

    def _above(self, row: int) -> int:
        """Return a row's parent; a root is its own parent."""
        above = self._parent[row]
        if above > row or (above == row and row not in {0, self._rows4}) or (above < self._rows4 <= row):
            offset = self._sections.layout.sections[names.PARENT].offset
            raise CorruptHierarchyError(offset + 4 * row, f"row {row} has no sound parent")
        return int(above)

    def _picked(self, column: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Return a column's values at rows, all of which must exist."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < self._count:
            raise InputError(f"there are rows outside 0 to {self._count - 1}")
        picked: NDArray[Any] = self._sections.array(column)[rows]
        return picked

    def _behind_descendants(self, row: int) -> int:
        """Return the row after the last descendant: the first that starts after the subnet's end."""
        if self._checked(row) < self._rows4:
            view = self._views[names.BOUNDS4]
            return bisect_right(view[::2], view[2 * row + 1], row)
        view, at = self._views[names.BOUNDS6], row - self._rows4
        high, low = view[4 * at + 2], view[4 * at + 3]
        behind = bisect_right(view[::4], high, at)
        start = bisect_left(view[::4], high, at, behind)
        return self._rows4 + bisect_right(view[1::4], low, start, behind)
