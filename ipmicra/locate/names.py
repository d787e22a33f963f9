"""Places in host names: airport codes, cities, and the codes that operators use for them."""

from __future__ import annotations

from dataclasses import dataclass

from ipmicra.locate import vocabulary as words
from ipmicra.locate.config import NameConfig
from ipmicra.locate.gazetteer import Gazetteer, Place
from ipmicra.locate.hostname import HostName
from ipmicra.locate.labels import Candidate, Label, LabelReader
from ipmicra.locate.tokens import Meaning, TokenReader
from ipmicra.model.geo import km_between
from ipmicra.model.location import Heuristic, Hint

_UNITED_STATES = frozenset({"edu", "gov", "mil"})


@dataclass(slots=True)
class Scored:
    """A place with its points."""

    token: str
    meaning: Meaning
    points: float
    label: int
    """Number of the label, from the left."""


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

    @property
    def tells_country(self) -> bool:
        """Whether anything at all is known."""
        return bool(self.areas or self.top or self.registered)

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
        return True if known else None


class NameReader:
    """Finds places in host names."""

    def __init__(self, gazetteer: Gazetteer, config: NameConfig | None = None) -> None:
        """Make the tables, which takes a second or less."""
        self._config = config or NameConfig()
        self._countries = frozenset(gazetteer.countries)
        self._areas = self._countries | {code for _country, code in gazetteer.regions}
        self._tokens = TokenReader(gazetteer, self._config)
        self._labels = LabelReader(self._tokens, self._config)

    def hints(self, name: HostName, registered: str | None = None) -> list[Hint]:
        """Return the votes of airport and city; `registered` is the registration's country, if known."""
        labels = [self._labels.read(label) for label in name.host]
        top = self._country_of(name)
        # A registered name counts only where the country agrees: others need not be read.
        domain = self._labels.read(name.domain).candidates if top else ()
        if not domain and not [label for label in labels if label.candidates]:
            return []
        context = self._context(labels, top, registered)
        has_role = any(label.has_role for label in labels)
        scored = [
            best
            for number, label in enumerate(labels)
            for candidate in label.candidates
            if (best := self._best(candidate, context, has_role, number))
        ]
        if domain:
            scored += self._of_domain(name, domain, context, len(labels))
        return [self._hint(one, name.text) for one in self._chosen(scored)]

    # --- what speaks for a candidate

    def _context(self, labels: list[Label], top: str | None, registered: str | None) -> Context:
        areas: set[str] = set()
        firm: set[str] = set()
        for label in labels:
            areas |= label.hints
            if label.area in self._areas:
                areas.add(label.area)
                if label.area_is_firm:
                    firm.add(label.area)
        return Context(areas, firm, top, registered if registered in self._countries else None)

    def _country_of(self, name: HostName) -> str | None:
        """Return the country of the top-level domain, if it indicates one: `.co` does not, `.com.co` does."""
        top = name.suffix[-1] if name.suffix else name.domain
        if top in _UNITED_STATES:
            return "US"
        if len(top) != 2 or (top in words.GENERIC_COUNTRY_DOMAINS and len(name.suffix) == 1):  # noqa: PLR2004
            return None
        country = words.ALIASES.get(top, top.upper())
        return country if country in self._countries else None

    def _best(self, candidate: Candidate, context: Context, has_role: bool, label: int) -> Scored | None:  # noqa: FBT001
        """Weigh a candidate's meanings; the first of equals is the larger place."""
        config = self._config
        around = candidate.points
        if candidate.has_adjacent_role:
            around += config.adjacent_role
        elif has_role:
            around += config.role
        best: Scored | None = None
        tells_country = context.tells_country
        for meaning in candidate.meanings:
            agreement = context.agreement(meaning.place) if tells_country else None
            if agreement is False or (meaning.needs_agreement and not agreement):
                continue
            points = meaning.points + around
            if agreement:
                points += config.agreement
                if meaning.place.region and meaning.place.region in context.areas:
                    points += config.region
            elif meaning.is_ambiguous:
                points += config.ambiguous
            if best is None or points > best.points:
                best = Scored(candidate.token, meaning, points, label)
        return best if best and best.points >= config.enough else None

    def _of_domain(
        self, name: HostName, candidates: tuple[Candidate, ...], context: Context, label: int
    ) -> list[Scored]:
        """Read the registered name: a city that is all of it, or stands beside a word such as `uni`."""
        pieces = set(name.domain.replace("_", "-").split("-"))
        found = []
        for candidate in candidates:
            is_whole = pieces == {candidate.token} or name.domain.replace("-", "") == candidate.token
            if not is_whole and not pieces & words.INSTITUTION_WORDS:
                continue
            for meaning in candidate.meanings:
                is_city = meaning.heuristic is Heuristic.CITY and meaning.points >= self._config.enough - 1.5
                if is_city and len(candidate.token) > 3 and context.agreement(meaning.place):  # noqa: PLR2004
                    found.append(
                        Scored(candidate.token, meaning, meaning.points + self._config.agreement, label)
                    )
                    break
        return [one for one in found if one.points >= self._config.enough]

    # --- which of them count

    def _chosen(self, scored: list[Scored]) -> list[Scored]:
        """Choose at most one airport and one city; what contradicts something stronger does not count."""
        if len(scored) < 2:  # noqa: PLR2004 - nothing to choose
            return scored
        airport = self._strongest([one for one in scored if one.meaning.heuristic is Heuristic.AIRPORT])
        city = self._strongest([one for one in scored if one.meaning.heuristic is Heuristic.CITY])
        if airport and city and not self._same(airport, city):
            return [city] if city.points >= airport.points else [airport]
        return [one for one in (airport, city) if one]

    def _strongest(self, scored: list[Scored]) -> Scored | None:
        """Choose by points, then the label nearest to the domain; two equals in one label cancel out."""
        if len(scored) < 2:  # noqa: PLR2004 - nothing to choose
            return scored[0] if scored else None
        best = max(scored, key=lambda one: (one.points, one.label))
        rivals = [
            one
            for one in scored
            if one.points == best.points and one.label == best.label and not self._same(one, best)
        ]
        return None if rivals else best

    def _same(self, one: Scored, other: Scored) -> bool:
        return km_between(one.meaning.place, other.meaning.place) < self._config.same_place_km

    def _hint(self, scored: Scored, name: str) -> Hint:
        meaning = scored.meaning
        return Hint(
            heuristic=meaning.heuristic,
            location=meaning.location,
            evidence=f"`{scored.token}` in `{name}`",
        )
