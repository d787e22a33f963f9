"""Ways to understand a token of a host name, and how often each was right."""

from __future__ import annotations

from collections.abc import Mapping
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

_PRIOR_VOTES = 2.0
_PRIOR = 0.9
"""Precision of a reading that nobody has measured; those that were measured are between 0.8 and 1."""
MEASURED: dict[tuple[Reading, bool], tuple[int, int]] = {
    (Reading.HUB, False): (65, 3),
    (Reading.HUB, True): (110, 0),
    (Reading.CODE, True): (10, 0),
    (Reading.NAME, False): (30, 0),
    (Reading.NAME, True): (79, 1),
    (Reading.OTHER_NAME, True): (5, 0),
    (Reading.ABBREVIATION, False): (4, 1),
    (Reading.ABBREVIATION, True): (12, 0),
    (Reading.LOCODE, False): (8, 0),
    (Reading.CLLI, False): (7, 0),
    (Reading.CLLI, True): (2, 0),
    (Reading.FIRST_LETTERS, True): (7, 0),
    (Reading.SEAT, False): (2, 0),
    (Reading.SEAT, True): (11, 2),
    (Reading.INSTITUTION, True): (5, 1),
}
"""Right and wrong votes by reading, and by whether something else in the name indicates the country.

Counted on names that the rules were not developed on, by `bin/bench --only locate`.
"""


def weights_of(
    measured: Mapping[tuple[Reading, bool], tuple[int, int]],
) -> dict[tuple[Reading, bool], float]:
    """Return the precision of each reading, as if there were two more votes, right as often as most are.

    Few votes say little: 5 of 6 give 0.85, 50 of 50 give 0.996, none at all 0.9.
    """
    return {
        (reading, has_country): (right + _PRIOR_VOTES * _PRIOR) / (right + wrong + _PRIOR_VOTES)
        for reading in Reading
        for has_country in (False, True)
        for right, wrong in [measured.get((reading, has_country), (0, 0))]
    }


WEIGHTS = weights_of(MEASURED)


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
    has_twin: bool = False
    """That city is so large that neither counts unless something indicates the country."""
    is_unique: bool = False
    """No other place in the table has the name: it can do without agreement beside a role."""
