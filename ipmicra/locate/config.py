"""Every number that the location heuristics are tuned by.

[1] Davis et al., RFC 1876, 1996. [2] Katz-Bassett et al., IMC 2006. [3] Gueye et al., ToN 2006 (CBG).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NameConfig:
    """Points for and against a place in a host name; what reaches `enough` is a vote.

    The points say in numbers what people do who read such names; they were set on the first test set and are
    judged on others that were written later.
    """

    enough: float = 4.0
    """Points from which a token is a place."""
    hub: float = 3.0
    """A code that operators write often."""
    large_airport: float = 2.0
    """An international airport of a large city that is no hub."""
    airport: float = 1.0
    """An airport with a city of `fewest_for_airport` around."""
    large_metro: int = 100_000
    """People around a large airport."""
    fewest_for_airport: int = 100_000
    """People around an airport; the codes of smaller ones are not looked for, unless they are hubs."""
    abbreviation: float = 2.5
    """What operators are known to write for a city."""
    long_abbreviation: float = 3.0
    """The same of five letters or more."""
    locode: float = 3.0
    """Country and code of a place in it, in the manner of UN/LOCODE."""
    clli: float = 2.0
    """Four letters of a city and its state or country, in the manner of CLLI."""
    clli_reason: float = 5.0
    """How many times larger a city counts whose words, or first three letters, the four letters begin."""
    truncated: float = 3.0
    """The first six or more letters of a city of `fewest_for_truncated`."""
    prefix: float = 1.0
    """The first three to five letters of a city of `fewest_for_prefix` in the country of the name."""
    prefix_rival_share: float = 0.2
    """People of another city that begins alike, as a share of the larger: from here on neither is meant."""
    fewest_for_clli: int = 20_000
    """People in a city of a state; of a country it is `fewest_for_airport`."""
    fewest_for_truncated: int = 500_000
    fewest_for_prefix: int = 200_000
    city_by_people: tuple[tuple[int, float], ...] = (
        (1_000_000, 3.5), (300_000, 3.25), (100_000, 3.0), (0, 2.0),
    )  # fmt: skip
    """Points of a city's whole name by the number of its people."""
    fewest_for_name: int = 15_000
    """People in a city; smaller ones are not looked for in host names."""
    other_name: float = -0.5
    """Not the city's own name but another."""
    ambiguous: float = -1.0
    """Another city of the same name is not much smaller, and nothing indicates the country."""
    rival_share: float = 1 / 3
    """People of such a city as a share of the larger one's."""
    twin_share: float = 1 / 2
    """The share from which neither counts unless something indicates the country."""
    namesake_share: float = 0.1
    """People of a city as a share of those of another that bears its name only in another spelling."""
    shortest_unique: int = 5
    """Letters of a town's name from which it counts by itself, if no other place has it."""
    joined: float = 1.5
    """Its words are joined by hyphens, as those of the city are by spaces: `fort-myers`."""
    edge: float = 1.0
    """A code with a number, or one of a hub, begins or ends its label: `mad07s09-in-f3`, `cdn-lax`."""
    digits: float = 1.0
    """A number follows: `fra2`."""
    role: float = 1.0
    """Some other part of the name is what a router, interface or customer's line is called."""
    adjacent_role: float = 2.0
    """The part beside it is."""
    whole_label: float = 1.0
    """It fills its label, except for a number."""
    agreement: float = 2.0
    """The country indicated by another part, the top-level domain or the registration is the same."""
    home: float = 1.0
    """Only the holder's home country is the same; large holders have machines abroad."""
    region: float = 2.0
    """So is the state or province, on top."""
    soft: float = -1.0
    """It is also an abbreviation or a person's name."""
    soft_city: float = -1.25
    word: float = -2.5
    """It is also an ordinary word."""
    fewest_points_for_seat: float = 2.0
    """Points of a city in a registered name, which need not be large if the country agrees."""
    fewest_for_seat: int = 25_000
    """People in such a city."""
    fewest_for_only_seat: int = 10_000
    """People in such a city if it is the whole registered name of a network and the only one of its name."""
    fewest_for_lone_seat: int = 50_000
    """People in such a city where nothing indicates the country and no other place has the name."""
    same_place_km: float = 100.0
    """Tokens whose places are closer mean the same place."""
    airport_radius_km: float = 50.0
    """An airport stands up to 50 km from the buildings named for it."""
    city_radius_km: float = 30.0
    """About the radius of a large city; networks meet inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateConfig:
    """Radii and weights of the other heuristics."""

    loc_floor_km: float = 5.0
    """Least radius of a LOC record on the host itself; [1] writes 10 km as the usual precision."""
    loc_parent_km: float = 50.0
    """Least radius where the record stands on a parent name: a site, not a machine."""
    institution_city_km: float = 40.0
    """A campus lies in or beside the city in its name."""
    known_radius_km: float = 50.0
    """Radius of a row that gives none: geofeeds name cities."""
    registered_radius_km: float = 50.0
    """Radius of a `geoloc:` attribute, which says nothing of its precision."""
    registry_city_km: float = 100.0
    """Radius of a holder's city: offices and machines differ; not calibrated, for lack of open truth."""
    registry_least_weight: float = 0.2
    """Weight of a holder's place when all around disagree."""
    neighbours: int = 64
    """Children and siblings of a subnet that are asked for their country, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyConfig:
    """What round trips say about a place; how fast light is stands in `ipmicra.model.geo` [2]."""

    slack_km: float = 50.0
    """Allowed on top of a bound: crawlers' and votes' own coordinates are rounded."""
    fewest_samples: int = 3
    """Samples from which an intersection is a location [3]."""
    grid_points: int = 4096
    """Points tried inside the tightest circle."""
    widest_km: float = 3000.0
    """An intersection wider than this says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceConfig:
    """From kilometres to milliseconds."""

    slope: float = 1.7
    """Round trip over that of light in a straight fibre, at the start."""
    access_ms: float = 4.0
    """What a path of no length takes, at the start."""
    log_spread: float = 0.45
    """Standard deviation of the logarithm of round trips about the median, at the start."""
    least_spread: float = 0.1
    prior_samples: float = 30.0
    """Weight of the start beside learnt samples, in samples."""
