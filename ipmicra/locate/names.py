"""Places in host names: airport codes, cities, and the codes that operators use for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ipmicra.locate.config import NameConfig
from ipmicra.locate.domains import DomainReader, Holder, Seat
from ipmicra.locate.gazetteer import Gazetteer, Place
from ipmicra.locate.hostname import HostName
from ipmicra.locate.labels import Candidate, Label, LabelReader
from ipmicra.locate.readings import WEIGHTS, Meaning, Reading
from ipmicra.locate.tokens import TokenReader
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic, Hint, Location

_CLLI_CITY = 4
"""Letters of a city in codes in the manner of CLLI."""
_DOMAIN = -1
"""The registered domain as a label: what stands in front of it says more of a machine."""


@dataclass(slots=True)
class Scored:
    """A place with its points."""

    token: str
    meaning: Meaning
    points: float
    label: int
    """Number of the label, from the left."""
    has_country: bool
    """Something in the name or registration indicates the country as well."""

    @property
    def reading(self) -> Reading:
        """How it was understood."""
        return Reading.SEAT if self.label == _DOMAIN else self.meaning.reading

    @property
    def strength(self) -> float:
        """Points, weighted by how often such a reading was right."""
        return self.points * self.weight

    @property
    def weight(self) -> float:
        """How often such a reading was right."""
        return WEIGHTS[self.reading, self.has_country]


@dataclass(slots=True)
class Context:
    """What the name and the registration say about the country."""

    areas: set[str]
    """Letters of countries and regions that stand in the name."""
    firm_areas: set[str]
    """Those of them that hardly mean anything else."""
    top: str | None
    """Country of the top-level domain."""
    registered: str | None
    """Country of the registration."""
    homes: frozenset[str]
    """Countries of the domain's holder: these speak for a place, never against one."""

    tells_country: bool
    """Anything at all is known."""
    is_campus: bool = False
    """It is an institution's machine and no router: its labels are departments and pet names."""

    def agreement(self, place: Place) -> bool | None:
        """Return whether what is known speaks for a place (True), against it (False) or neither (None).

        Letters in the name speak louder than domain and registration: carriers name routers abroad under
        their own domain.
        """
        if place.country in self.areas or (place.region and place.region in self.areas):
            return True
        if self.firm_areas:
            return False
        known = [country for country in (self.top, self.registered) if country]
        if any(country != place.country for country in known):
            return False
        return True if known or place.country in self.homes else None

    def is_abroad(self, place: Place) -> bool:
        """Return whether the holder is at home, and the place is elsewhere."""
        return bool(self.homes) and place.country not in self.homes

    def is_only_home(self, place: Place) -> bool:
        """Return whether a place's country is known from the domain's holder alone."""
        is_named = place.country in self.areas or (place.region and place.region in self.areas)
        return not (is_named or self.top or self.registered)


class NameReader:
    """Finds places in host names."""

    def __init__(self, gazetteer: Gazetteer, config: NameConfig | None = None) -> None:
        """Make the tables, which takes a second or less."""
        self._config = config or NameConfig()
        self._countries = frozenset(gazetteer.countries)
        self._areas = self._countries | {code for _country, code in gazetteer.regions}
        self._tokens = TokenReader(gazetteer, self._config)
        self._labels = LabelReader(self._tokens, self._config)
        self._domains = DomainReader(gazetteer, self._tokens, self._config)

    def hints(
        self, name: HostName, registered: str | None = None, institution: Location | None = None
    ) -> list[Hint]:
        """Return the votes of airport and city."""
        return [self._hint(one, name.text) for one in self.read(name, registered, institution)]

    def read(
        self, name: HostName, registered: str | None = None, institution: Location | None = None
    ) -> list[Scored]:
        """Return at most one airport and one city, with how they were understood.

        `registered` is the registration's country, if known. A city in the domain of a known institution must
        be where that is: `wayne.edu` is in Detroit.
        """
        labels = [self._labels.read(label) for label in name.host]
        seats = self._domains.seats(name)
        if not seats and not [label for label in labels if label.candidates or label.area]:
            return []
        holder = self._domains.holder(name)
        has_role = holder.is_network or bool([label for label in labels if label.has_role])
        context = self._context(labels, holder, registered)
        is_campus = bool(institution and institution.city) or holder.is_academic
        context.is_campus = is_campus and not [label for label in labels if label.has_router]
        scored = self._of_labels(name.host, labels, context, has_role)
        seat = self._of_domain(seats, context, has_role) if seats else None
        if seat and (institution is None or self._is_near(seat.meaning.place, institution)):
            scored.append(seat)
        return self._chosen(scored) if len(scored) > 1 else scored

    def _of_labels(
        self,
        host: list[str],
        labels: list[Label],
        context: Context,
        has_role: bool,  # noqa: FBT001
    ) -> list[Scored]:
        every = [*labels, *self._split_codes(host, labels)] if context.areas else labels
        return [
            best
            for number, label in enumerate(every)
            for candidate in label.candidates
            if (best := self._best(candidate, context, has_role, number))
        ]

    # --- what speaks for a candidate

    def _context(self, labels: list[Label], holder: Holder, registered: str | None) -> Context:
        areas: set[str] = set()
        firm: set[str] = set()
        for label in labels:
            areas |= label.hints
            if label.area in self._areas:
                areas.add(label.area)
                if label.area_is_firm:
                    firm.add(label.area)
        known = registered if registered in self._countries else None
        tells = bool(areas or holder.country or known or holder.homes)
        return Context(areas, firm, holder.country, known, holder.homes, tells)

    def _split_codes(self, host: list[str], labels: list[Label]) -> list[Label]:
        """Read codes in the manner of CLLI whose state is a label of its own: `blng.mt`."""
        return [
            self._labels.read(host[i - 1] + host[i])
            for i in range(1, len(labels))
            if labels[i].area in self._areas and len(host[i - 1]) == _CLLI_CITY and host[i - 1].isalpha()
        ]

    def _best(self, candidate: Candidate, context: Context, has_role: bool, label: int) -> Scored | None:  # noqa: FBT001
        """Weigh a candidate's meanings; the first of equals is the larger place."""
        config = self._config
        around = candidate.points
        if candidate.has_adjacent_role:
            around += config.adjacent_role
        elif has_role:
            around += config.role
        best: Scored | None = None
        for meaning in candidate.meanings:
            agreement = context.agreement(meaning.place) if context.tells_country else None
            if agreement is False or (context.is_campus and not _is_told_on_campus(meaning, candidate)):
                continue
            if not agreement and not self._can_do_without(meaning, candidate, context, has_role):
                continue
            points = meaning.points + around
            if agreement:
                points += self._agreed(meaning.place, context)
            elif meaning.is_ambiguous:
                points += config.ambiguous
            if best is None or points > best.points:
                best = Scored(candidate.token, meaning, points, label, bool(agreement))
        return best if best and self._is_enough(best, candidate) else None

    def _can_do_without(
        self,
        meaning: Meaning,
        candidate: Candidate,
        context: Context,
        has_role: bool,  # noqa: FBT001
    ) -> bool:
        """Return whether a meaning counts although nothing indicates its country."""
        if meaning.has_twin:
            return False
        if meaning.needs_agreement or candidate.is_doubtful:
            return not context.is_abroad(meaning.place) and _can_stand_alone(meaning, candidate, has_role)
        if meaning.reading is Reading.CODE:
            return candidate.has_number and has_role
        is_code = meaning.reading in {Reading.HUB, Reading.ABBREVIATION}
        return not (is_code and context.is_abroad(meaning.place)) or _is_marked(candidate)

    def _agreed(self, place: Place, context: Context) -> float:
        """Return the points for a country that agrees, and for a state that does."""
        config = self._config
        points = config.home if context.homes and context.is_only_home(place) else config.agreement
        return points + config.region if place.region and place.region in context.areas else points

    def _is_enough(self, best: Scored, candidate: Candidate) -> bool:
        config = self._config
        if best.points >= config.enough:
            return True
        is_site = candidate.is_edge and _is_site_code(best.meaning, candidate, config)
        return is_site and best.points + config.edge >= config.enough

    def _of_domain(self, seats: Iterable[Seat], context: Context, has_role: bool) -> Scored | None:  # noqa: FBT001
        """Find the holder's city: the country must agree, or it is a network's and well known."""
        for seat in seats:
            if seat.needs_role and not has_role:
                continue
            agreement = context.agreement(seat.meaning.place)
            if agreement or (agreement is None and has_role and seat.is_lone):
                return Scored(seat.token, seat.meaning, self._config.enough, _DOMAIN, bool(agreement))
        return None

    # --- which of them count

    def _chosen(self, scored: list[Scored]) -> list[Scored]:
        """Choose at most one airport and one city; what contradicts something stronger does not count."""
        airport = self._strongest([one for one in scored if one.meaning.heuristic is Heuristic.AIRPORT])
        city = self._strongest([one for one in scored if one.meaning.heuristic is Heuristic.CITY])
        if airport and city and not self._same(airport, city):
            return [city] if city.strength >= airport.strength else [airport]
        return [one for one in (airport, city) if one]

    def _strongest(self, scored: list[Scored]) -> Scored | None:
        """Choose by strength, then the label nearest to the domain; two equals in one label cancel out."""
        if len(scored) < 2:  # noqa: PLR2004 - nothing to choose
            return scored[0] if scored else None
        best = max(scored, key=lambda one: (one.strength, one.label))
        rivals = [
            one
            for one in scored
            if one.strength == best.strength and one.label == best.label and not self._same(one, best)
        ]
        return None if rivals else best

    def _same(self, one: Scored, other: Scored) -> bool:
        return self._is_near(one.meaning.place, other.meaning.place)

    def _is_near(self, one: Place, other: Place | Location) -> bool:
        return km_between(one, other) < self._config.same_place_km

    def _hint(self, scored: Scored, name: str) -> Hint:
        meaning = scored.meaning
        return Hint(
            heuristic=meaning.heuristic,
            location=meaning.location,
            evidence=f"`{scored.token}` in `{name}`",
            weight=scored.weight,
        )


def _can_stand_alone(meaning: Meaning, candidate: Candidate, has_role: bool) -> bool:  # noqa: FBT001
    """Return whether a town counts without the country's agreement: spelled out, the only one of its name."""
    is_spelled = candidate.is_joined or (candidate.is_whole and has_role)
    return meaning.is_unique and is_spelled and not candidate.is_doubtful


def _is_told_on_campus(meaning: Meaning, candidate: Candidate) -> bool:
    """Return whether a place is more than a department (`las`, `stat`) or a machine's pet name (`paris`)."""
    return _is_marked(candidate) and meaning.reading in {Reading.NAME, Reading.OTHER_NAME, Reading.HUB}


def _is_marked(candidate: Candidate) -> bool:
    """Return whether more than the letters says that a token is a place."""
    return candidate.has_number or candidate.has_adjacent_role or candidate.is_joined


def _is_site_code(meaning: Meaning, candidate: Candidate, config: NameConfig) -> bool:
    """Return whether a code at a label's edge is a site's: with a number, or that of a hub at the end."""
    if meaning.reading not in {Reading.HUB, Reading.ABBREVIATION}:
        return False
    is_plain_hub = meaning.reading is Reading.HUB and meaning.points >= config.hub
    return candidate.has_number or (is_plain_hub and candidate.is_last)
