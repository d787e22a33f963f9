"""The crawlers among which sites are partitioned, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import InputError
from ipmicra.partition.sites import UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlerTable:
    """Crawlers in the order of their joining.

    Crawlers without a location are *floating*: each stands at the centre of its part, as in [1].
    """

    names: tuple[str, ...]
    latitude: NDArray[np.float64]
    """Degrees north; not a number where the location is unknown."""
    longitude: NDArray[np.float64]
    country: NDArray[np.int64]
    holder: NDArray[np.int64]
    capacity: NDArray[np.float64]
    """Relative to each other; above 0."""

    @classmethod
    def floating(cls, count: int) -> Self:
        """Make crawlers of equal capacity that stand wherever their sites are."""
        return cls.of([f"crawler-{number + 1:02d}" for number in range(count)])

    @classmethod
    def of(
        cls,
        names: list[str],
        places: tuple[list[float], list[float]] | None = None,
        capacity: list[float] | None = None,
    ) -> Self:
        """Make a table of plain lists."""
        nowhere = np.full(len(names), np.nan)
        return cls(
            names=tuple(names),
            latitude=nowhere if places is None else np.asarray(places[0], np.float64),
            longitude=nowhere if places is None else np.asarray(places[1], np.float64),
            country=np.zeros(len(names), np.int64),
            holder=np.full(len(names), UNKNOWN, np.int64),
            capacity=np.ones(len(names)) if capacity is None else np.asarray(capacity, np.float64),
        )

    def __post_init__(self) -> None:
        """Refuse an empty fleet, duplicate names, and crawlers without capacity."""
        if not self.names:
            raise InputError("there must be one crawler at least")
        if len(set(self.names)) != len(self.names):
            raise InputError("two crawlers have the same name")
        if np.any(~np.isfinite(self.capacity)) or np.any(self.capacity <= 0):
            raise InputError("capacities must be above 0; leave out a crawler that is to get nothing")

    def __len__(self) -> int:
        """Count the crawlers."""
        return len(self.names)

    @property
    def is_placed(self) -> bool:
        """Return whether all of them have a location."""
        return bool(np.all(np.isfinite(self.latitude)) and np.all(np.isfinite(self.longitude)))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Part of the whole capacity that each one has; they add up to one."""
        shares: NDArray[np.float64] = self.capacity / self.capacity.sum()
        return shares

    def first(self, count: int) -> CrawlerTable:
        """Return those that joined first."""
        return self.taken(np.arange(min(count, len(self))))

    def taken(self, numbers: NDArray[np.int64]) -> CrawlerTable:
        """Return some of them."""
        return CrawlerTable(
            names=tuple(self.names[number] for number in numbers.tolist()),
            latitude=self.latitude[numbers],
            longitude=self.longitude[numbers],
            country=self.country[numbers],
            holder=self.holder[numbers],
            capacity=self.capacity[numbers],
        )

    def with_newcomer(self) -> CrawlerTable:
        """Let one more floating crawler join, of mean capacity."""
        name = next(
            name
            for number in range(len(self) + 1, 2 * len(self) + 2)
            if (name := f"crawler-{number:02d}") not in self.names
        )
        return CrawlerTable(
            names=(*self.names, name),
            latitude=np.append(self.latitude, np.nan),
            longitude=np.append(self.longitude, np.nan),
            country=np.append(self.country, 0),
            holder=np.append(self.holder, UNKNOWN),
            capacity=np.append(self.capacity, self.capacity.mean()),
        )
