"""Texts of a record as values; what makes no sense becomes a finding and counts as missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ipmicra.edge.files.lines import Note
from ipmicra.errors import InputError
from ipmicra.model.address import Address, read_address
from ipmicra.model.location import Location

Value = TypeVar("Value")
LARGEST = 1e15
"""Largest number of a field that has no bound of its own."""


class Fields:
    """Reads the fields of one record."""

    def __init__(self, record: Mapping[str, str], where: str, note: Note) -> None:
        """Keep the record and where it stands; findings go to `note`."""
        self._record, self.where, self._note = record, where, note

    def note(self, finding: str) -> None:
        """Note a finding on this record."""
        self._note(f"{self.where}: {finding}")

    def text(self, *keys: str) -> str | None:
        """Return the first of several fields that is filled."""
        return next((text for key in keys if (text := self._record.get(key, "").strip())), None)

    def attempt(self, read: Callable[[str], Value], *keys: str) -> Value | None:
        """Read a field; what goes wrong is a finding."""
        text = self.text(*keys)
        try:
            return None if text is None else read(text)
        except InputError as error:
            self.note(str(error))
            return None

    def number(self, key: str, low: float = 0.0, high: float = LARGEST) -> float | None:
        """Return a finite number within bounds."""
        return self.attempt(lambda text: _number(key, text, low, high), key)

    def positive(self, key: str) -> float | None:
        """Return a number above zero."""
        number = self.number(key)
        if number == 0:
            self.note(f"{key} must be above zero")
        return number or None

    def whole(self, key: str) -> int | None:
        """Return a whole number that is not negative."""
        number = self.number(key)
        if number is not None and number != int(number):
            self.note(f"{key} {self.text(key)!r} is no whole number")
            return None
        return None if number is None else int(number)

    def address(self) -> Address | None:
        """Return the address."""
        return self.attempt(read_address, "address")

    def place(self, radius_km: float, country: str | None = None) -> Location | None:
        """Return the place; with this radius if the record has none of its own."""
        latitude, longitude = self.number("latitude", -90, 90), self.number("longitude", -180, 180)
        if latitude is None or longitude is None:
            if latitude != longitude and (self.text("latitude") is None or self.text("longitude") is None):
                self.note("latitude and longitude go together")
            return None
        return Location(
            latitude=latitude,
            longitude=longitude,
            radius_km=self.positive("radius_km") or radius_km,
            city=self.text("city"),
            country=country,
        )

    def country(self) -> str | None:
        """Return the country's two letters, in capitals."""
        text = self.text("country")
        if text is None:
            return None
        if not (len(text) == 2 and text.isascii() and text.isalpha()):  # noqa: PLR2004 - ISO 3166
            self.note(f"country {text!r} is not two letters")
            return None
        return text.upper()

    def word(self, kind: type[Any], *keys: str) -> Any:  # noqa: ANN401 - a member of the enum
        """Return a word of an enum; None if it is another."""
        text = self.text(*keys)
        try:
            return None if text is None else kind(text.lower())
        except ValueError:
            return None


def _number(key: str, text: str, low: float, high: float) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise InputError(f"{key} {text!r} is no number") from error
    if not (math.isfinite(number) and low <= number <= high):
        bounds = f"between {low:g} and {high:g}" if high < LARGEST else f"a number of {low:g} or more"
        raise InputError(f"{key} {text!r} is not {bounds}")
    return number
