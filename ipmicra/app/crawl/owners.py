"""Who owns a host, by a file of assignments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ipmicra.delegate.subnets import slice_bounds, slice_of
from ipmicra.edge.files.seeds import host_of
from ipmicra.edge.files.tables import Record, read_records
from ipmicra.errors import AddressError, InputError
from ipmicra.model.address import Address, range_text, read_address, read_range
from ipmicra.model.link import Share


class AssignedOwners:
    """Shares by host, as a file has them; crawlers by name."""

    def __init__(self, shares: Mapping[str, tuple[Share, ...]]) -> None:
        """Keep the shares of each host."""
        self._shares = shares
        self.crawlers = sorted({share.crawler for each in shares.values() for share in each})

    def shares_of(self, host: str) -> tuple[Share, ...] | None:
        """Return the shares of a host; None if the file does not name it."""
        return self._shares.get(host)

    def items(self) -> Iterable[tuple[str, tuple[Share, ...]]]:
        """Iterate over hosts and their shares."""
        return self._shares.items()

    def __len__(self) -> int:
        """Count the hosts."""
        return len(self._shares)


def read_owners(path: Path) -> AssignedOwners:
    """Read what `ipmicra delegate` or `ipmicra assign` writes: CSV, JSON, JSON lines or Parquet.

    Raises:
        InputError: It cannot be read, has no columns `host` and `crawler`, or assigns no site.
    """
    shares: dict[str, tuple[Share, ...]] = {}
    for where, record in read_records(path, ("host", "crawler")):
        if record["crawler"]:
            host = host_of(record["host"])
            try:
                shares[host] = (*shares.get(host, ()), _share(host, record))
            except (AddressError, ValueError) as error:
                raise InputError(f"{where}: {error}") from error
    if not shares:
        raise InputError(f"{path} assigns no site: write it with `ipmicra delegate SEEDS --format csv`")
    return AssignedOwners(shares)


def _share(host: str, record: Record) -> Share:
    return Share(
        crawler=record["crawler"],
        slot=_slot(host, record),
        vantage=record.get("vantage", ""),
        filters=_filters(record.get("filters", "")),
    )


def _slot(host: str, record: Record) -> str:
    if not record.get("address"):
        return record.get("subnet") or host
    return block_of(read_address(record["address"]), record.get("subnet", ""))


def block_of(address: Address, subnet: str = "") -> str:
    """Return the block whose sites share polite delays: the subnet, but no more than 256 addresses or a /48.

    A registered subnet may be as wide as 10.0.0.0/8, and one delay for all its sites would stop a crawl.
    """
    first, last = slice_bounds(slice_of(address))
    if subnet:
        low, high = read_range(subnet)
        if low.version == first.version and int(first) <= int(low) and int(high) <= int(last):
            return subnet
    return range_text(first, last)


def _filters(text: str) -> tuple[str, ...]:
    """Read filters: a JSON list, or words between blanks as the CSV of `ipmicra assign` has them."""
    if not text.startswith("["):
        return tuple(text.split())
    return tuple(str(each) for each in json.loads(text))
