"""Ways to understand a token of a host name, and how often each was right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ipmicra.locate.gazetteer import Place
from ipmicra.model.location import Heuristic, Location


class Reading(StrEnum):
    """How a token was understood; the precision of each is measured by itself."""

    HUB = "hub"
    """Code of an airport or city where networks meet."""
    CODE = "code"
    """Code of another airport."""
    NAME = "name"
    """A city's name."""
    OTHER_NAME = "other name"
    """A city's name in another language or spelling."""
    ABBREVIATION = "abbreviation"
    """What operators are known to write for a city."""
    LOCODE = "locode"
    """Country and code of a place in it."""
    CLLI = "clli"
    """Letters of a city and its state or country."""
    FIRST_LETTERS = "first letters"
    """The beginning of a city's name."""
    LAST_WORD = "last word"
    """The last word of a city's name: `chelny`."""
    SEAT = "seat"
    """A city in the registered name."""
    INSTITUTION = "institution"
    """The registered domain of a known institution."""


WHOLE = frozenset({Reading.HUB, Reading.CODE, Reading.ABBREVIATION, Reading.NAME, Reading.OTHER_NAME})
"""Readings of a code or name as a whole: others are too likely chance where a token is cut out of a word."""

MEASURED: dict[Reading, tuple[int, int]] = {
    Reading.HUB: (169, 1),
    Reading.CODE: (19, 2),
    Reading.NAME: (197, 3),
    Reading.OTHER_NAME: (26, 0),
    Reading.ABBREVIATION: (62, 0),
    Reading.LOCODE: (7, 0),
    Reading.CLLI: (35, 0),
    Reading.FIRST_LETTERS: (21, 1),
    Reading.LAST_WORD: (1, 0),
    Reading.SEAT: (24, 0),
    Reading.INSTITUTION: (11, 1),
}
"""Right and wrong votes on names that the rules were developed on, counted by `bin/bench --only locate`."""


WEIGHTS = {reading: (right + 1) / (right + wrong + 2) for reading, (right, wrong) in MEASURED.items()}
"""Precision of each reading, as if one more vote had been right and one more wrong.

Few votes say little: 1 of 1 gives 0.67, 50 of 50 give 0.98.
"""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A place that a token may stand for."""

    heuristic: Heuristic
    reading: Reading
    place: Place
    location: Location
    points: float
    needs_agreement: bool = False
    """Counts only where the name indicates the country as well."""
    is_ambiguous: bool = False
    """There is another city of the name, far away and not much smaller."""
    is_unique: bool = False
    """No other place in the table has the name: it can do without agreement beside a role."""
