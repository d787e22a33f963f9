"""Institutions by their domains: the longest suffix of a host name that is in a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from numpy.typing import NDArray

from ipmicra.locate.hostname import HostName
from ipmicra.locate.readings import WEIGHTS, Reading
from ipmicra.model.location import Heuristic, Hint, Location


class InstitutionTable:
    """Places of domains; users' own rows go before the packaged ones."""

    def __init__(self, own: Mapping[str, Location] | None = None) -> None:
        """Take domains in small letters, without a dot at the end."""
        self._own = dict(own or {})
        self._ends = _ends(self._own)
        self._rows: dict[str, int] = {}
        self._texts: list[list[str]] = [[], []]
        self._numbers: list[NDArray[Any]] = []

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Read the packaged table: one text per line, places in degrees and kilometres."""
        table = cls()
        domains, *table._texts = (
            bytes(columns[name]).decode().split("\n") for name in ("domain", "city", "country")
        )
        table._rows = dict(zip(domains, range(len(domains)), strict=True))
        table._ends = _ends(domains)
        table._numbers = [columns[name] for name in ("latitude", "longitude", "radius_km")]
        return table

    def __len__(self) -> int:
        """Count the domains."""
        return len(self._rows.keys() | self._own.keys())

    def updated(self, rows: Mapping[str, Location]) -> InstitutionTable:
        """Return a table with rows that go before these."""
        table = InstitutionTable({**self._own, **rows})
        table._rows, table._texts, table._numbers = self._rows, self._texts, self._numbers
        table._ends |= self._ends
        return table

    def hint(self, name: HostName) -> Hint | None:
        """Return the vote for the longest suffix; never a public suffix alone."""
        text = name.text
        if text[text.rfind(".", 0, max(text.rfind("."), 0)) + 1 :] not in self._ends:
            return None
        least = len(name.domain) + sum(len(label) + 1 for label in name.suffix)
        while text and len(text) >= least:
            place = self._own.get(text) or self._packaged(text)
            if place is not None:
                return Hint(
                    heuristic=Heuristic.INSTITUTION,
                    location=place,
                    evidence=f"`{text}` in `{name.text}`",
                    weight=1.0 if text in self._own else WEIGHTS[Reading.INSTITUTION, True],
                )
            _label, _dot, text = text.partition(".")
        return None

    def _packaged(self, domain: str) -> Location | None:
        row = self._rows.get(domain)
        if row is None:
            return None
        (cities, countries), (latitude, longitude, radius_km) = self._texts, self._numbers
        return Location(
            latitude=round(float(latitude[row]), 4),
            longitude=round(float(longitude[row]), 4),
            radius_km=round(float(radius_km[row]), 1),
            city=cities[row] or None,
            country=countries[row],
        )


def _ends(domains: Iterable[str]) -> set[str]:
    """Return the last two labels of domains: a name that ends otherwise need not be looked up."""
    return {".".join(domain.rsplit(".", 2)[-2:]) for domain in domains}
