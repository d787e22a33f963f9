"""The list of sites, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.partition.names import PackedNames

UNKNOWN = -1
"""Holder or subnet that is not known."""
_NO_COUNTRY = 0


class Grain(StrEnum):
    """What stays together: the vertices of the graphs that are partitioned."""

    HOST = "host"
    ADDRESS = "address"
    SUBNET = "subnet"
    AGGREGATE = "aggregate"
    """The prefix under which an address is announced."""
    AS = "as"
    """The autonomous system that announces it."""


def country_code(text: str | None) -> int:
    """Return two letters as a number, 0 for none: the first letter × 256 + the second."""
    letters = (text or "").strip().upper()
    is_code = len(letters) == 2 and letters.isascii() and letters.isalpha()  # noqa: PLR2004 - ISO 3166
    return ord(letters[0]) * 256 + ord(letters[1]) if is_code else _NO_COUNTRY


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTable:
    """Sites with what is known of each; all columns have the same length."""

    hosts: PackedNames
    address: NDArray[np.int64]
    """Number of the site's address; sites that share one have the same number, from 0 without a gap."""
    subnets: NDArray[np.int64]
    """A row per level, narrow to wide: number of the subnet that holds the site, or UNKNOWN."""
    latitude: NDArray[np.float64]
    """Degrees north; not a number where the location is unknown."""
    longitude: NDArray[np.float64]
    country: NDArray[np.int64]
    """As `country_code` gives it."""
    holder: NDArray[np.int64]
    """Number of the organisation that holds the address, or UNKNOWN."""
    pages: NDArray[np.float64]
    """Pages to download; never negative."""
    aggregate: NDArray[np.int64] | None = None
    """Number of the announced prefix that covers the address, or UNKNOWN; None if no site's is known."""
    system: NDArray[np.int64] | None = None
    """Number of the autonomous system, or UNKNOWN; None if no site's is known."""

    def __len__(self) -> int:
        """Count the sites."""
        return len(self.address)

    @classmethod
    def of(
        cls,
        hosts: Sequence[str],
        addresses: Sequence[object] | None = None,
        places: tuple[Sequence[float], Sequence[float]] | None = None,
        pages: Sequence[float] | None = None,
    ) -> Self:
        """Make a table of plain lists; without addresses each host has its own."""
        count = len(hosts)
        keys: Sequence[object] = hosts if addresses is None else addresses
        numbers: dict[object, int] = {}
        address = np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, count)
        nowhere = np.full(count, np.nan)
        return cls(
            hosts=PackedNames.pack(hosts),
            address=address,
            subnets=np.zeros((0, count), np.int64),
            latitude=nowhere if places is None else np.asarray(places[0], np.float64),
            longitude=nowhere if places is None else np.asarray(places[1], np.float64),
            country=np.zeros(count, np.int64),
            holder=np.full(count, UNKNOWN, np.int64),
            pages=np.ones(count) if pages is None else np.asarray(pages, np.float64),
        )

    def __post_init__(self) -> None:
        """Refuse columns that contradict each other."""
        columns = (self.hosts, self.latitude, self.longitude, self.country, self.holder, self.pages)
        if any(len(column) != len(self) for column in columns) or self.subnets.shape[1] != len(self):
            raise InputError("columns of sites differ in length")
        if np.any(~np.isfinite(self.pages)) or np.any(self.pages < 0):
            raise InputError("pages must be numbers from 0 on")

    @property
    def has_location(self) -> NDArray[np.bool_]:
        """Return which sites have a location."""
        return np.isfinite(self.latitude) & np.isfinite(self.longitude)

    def vertices(self, grain: Grain) -> tuple[NDArray[np.int64], int]:
        """Return each site's vertex at a grain, and how many there are.

        A subnet is the narrowest one known; an address outside all subnets stands for itself, as does one
        whose aggregate or autonomous system is unknown.
        """
        if grain is Grain.HOST:
            return np.arange(len(self)), len(self)
        key = self.address
        wider = {
            Grain.SUBNET: self.subnets[0] if len(self.subnets) else None,
            Grain.AGGREGATE: self.aggregate,
            Grain.AS: self.system,
        }.get(grain)
        if wider is not None:
            key = np.where(wider >= 0, wider, -2 - self.address)
        distinct, vertex = np.unique(key, return_inverse=True)
        return vertex.astype(np.int64), len(distinct)

    def taken(self, rows: NDArray[np.int64]) -> SiteTable:
        """Return some of the sites; addresses keep their numbers without a gap."""
        _, address = np.unique(self.address[rows], return_inverse=True)
        return SiteTable(
            hosts=self.hosts.taken(rows),
            address=address.astype(np.int64),
            subnets=self.subnets[:, rows],
            latitude=self.latitude[rows],
            longitude=self.longitude[rows],
            country=self.country[rows],
            holder=self.holder[rows],
            pages=self.pages[rows],
            aggregate=None if self.aggregate is None else self.aggregate[rows],
            system=None if self.system is None else self.system[rows],
        )

    def placed_at(self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> SiteTable:
        """Return the same sites at other locations."""
        return replace(self, latitude=latitude, longitude=longitude)
