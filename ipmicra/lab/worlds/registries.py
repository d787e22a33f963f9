"""An invented world whose address space is handed out as the registries do it: four to seven levels.

How it works
------------
Five registries have a continent each: countries scattered over it, cities around the middle of a country.
A registry allocates a block to each of its LIRs. An LIR divides it among its points of presence, or gives
it to customers directly; part of the points of presence sell through a reseller; a few customers divide
their subnet further. Counted with the root that makes four levels at least (root, registry, LIR, customer)
and seven at most (point of presence, reseller and department besides).

Most LIRs sell access: each point of presence stands in a city of the LIR's own country, and so do nearly all
customers behind it. The others are hosting companies, whose points of presence stand in any city of the
continent and some beyond it, and on which more sites live. Most customers are organisations with one subnet;
some get another from any LIR of the same country.

Every range starts with 256 addresses of its own (an LIR's own servers, say), so no two ranges are equal, and
each of these blocks stands in one city. Sites are drawn from these blocks, not registries' own, by a
heavy-tailed weight; crawlers stand in customers' subnets, in different cities.

Two hierarchies are made of it: the deep one, and what the registries' statistics files would say of the same
world, allocations to LIRs and nothing below them. Round trips come from `synthetic`. No number here was
chosen for what a policy makes of it; those of the plan are round figures, and `simulate delegation` draws
another world for each seed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from ipaddress import IPv4Address

import numpy as np

from ipmicra.delegate.replay.world import World
from ipmicra.errors import InputError
from ipmicra.lab.worlds.synthetic import HOSTS_PER_SUBNET, LinePlan, location_of_city, round_trips
from ipmicra.lab.worlds.trees import (
    FIRST_ADDRESS,
    SUBNET_SIZE,
    RegisteredRanges,
    Registrations,
    Span,
    country_code,
    span_of_subnets,
)
from ipmicra.model.crawler import Crawler
from ipmicra.model.site import Site
from ipmicra.model.types import Floats, Rows

DEGREE_KM = 111.0
ROOT: Span = (4, 0, 2**32 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryPlan(LinePlan):
    """What to invent."""

    crawlers: int = 12
    sites: int = 1000
    registries: int = 5
    countries_each: int = 8
    """Countries of a registry, within `continent_km` of the middle of its continent."""
    cities_each: int = 5
    """Cities of a country, within `country_km` of its middle."""
    continent_km: float = 2500.0
    country_km: float = 400.0
    lirs_each: int = 40
    """LIRs of a registry."""
    customers_each: float = 20.0
    """Customers of an LIR on average; few LIRs have most of them."""
    hosting: float = 0.25
    """Share of the LIRs that are hosting companies."""
    beyond: float = 0.3
    """Share of a hosting company's points of presence on other continents."""
    points: float = 0.7
    """Share of the LIRs that divide their block among points of presence."""
    most_points: int = 4
    resold: float = 0.3
    """Share of the points of presence that sell through a reseller."""
    divided: float = 0.1
    """Share of the customers that divide their subnet, in two."""
    elsewhere: float = 0.1
    """Share of the customers that stand in another city of the LIR's country than their point of presence."""
    known: float = 0.25
    """Share of the subnets that go to an organisation of the country that has one already."""
    hosting_sites: float = 4.0
    """Sites on a hosting company's block, for one on another block."""


@dataclass(frozen=True, slots=True)
class RegisteredWorld:
    """A world and its two hierarchies."""

    world: World
    deep: RegisteredRanges
    """All registrations."""
    flat: RegisteredRanges
    """Allocations to LIRs only, as the statistics files list them."""


@dataclass(frozen=True, slots=True)
class _Map:
    """Countries and cities."""

    places: Floats
    """Of the cities, degrees north and east."""
    country: Rows
    """Of each city."""
    registry: Rows
    """Of each city, from 0."""


def invent_registries(plan: RegistryPlan, rng: np.random.Generator) -> RegisteredWorld:
    """Invent a world and its hierarchies."""
    ground = _ground(plan, rng)
    space = _AddressSpace(plan, ground, rng)
    for registry in range(plan.registries):
        space.allocate(registry)
    blocks = np.array(space.cities)
    taken = _crawler_blocks(plan, space, blocks, rng)
    addresses = _addresses(plan, space, rng)
    lands = ground.country
    locations = [location_of_city(place, int(land)) for place, land in zip(ground.places, lands, strict=True)]
    crawlers = tuple(
        Crawler(
            name=f"c{i:02}",
            address=IPv4Address(FIRST_ADDRESS + block * SUBNET_SIZE + HOSTS_PER_SUBNET),
            location=locations[blocks[block]],
        )
        for i, block in enumerate(taken)
    )
    cities = blocks[(addresses - FIRST_ADDRESS) // SUBNET_SIZE]
    world = World(
        "invented registries",
        crawlers,
        tuple(Site(f"s{i}.example", IPv4Address(number)) for i, number in enumerate(addresses.tolist())),
        round_trips(plan, rng, ground.places, cities, blocks[taken]),
        tuple(locations[city] for city in cities),
        tuple(country_code(int(lands[city])) for city in cities),
    )
    return RegisteredWorld(world, space.tree(), space.tree(space.allocations))


def _ground(plan: RegistryPlan, rng: np.random.Generator) -> _Map:
    """Scatter continents between 50 degrees north and south, and what lies on them around their middles."""
    continents = np.stack(
        [rng.uniform(-50, 50, plan.registries), rng.uniform(-180, 180, plan.registries)], axis=1
    )
    countries = _around(continents, plan.countries_each, plan.continent_km, rng)
    places = _around(countries, plan.cities_each, plan.country_km, rng)
    places[:, 0] = np.clip(places[:, 0], -75, 75)
    places[:, 1] = (places[:, 1] + 180) % 360 - 180
    numbers = np.arange(len(places))
    country = numbers // plan.cities_each
    return _Map(places, country, country // plan.countries_each)


def _around(middles: Floats, count: int, reach_km: float, rng: np.random.Generator) -> Floats:
    reach = reach_km / DEGREE_KM
    scattered: Floats = np.repeat(middles, count, axis=0)
    return scattered + rng.uniform(-reach, reach, scattered.shape)


class _AddressSpace:
    """Ranges in preorder, handed out from the lowest address upwards."""

    def __init__(self, plan: RegistryPlan, ground: _Map, rng: np.random.Generator) -> None:
        """Start with the root alone."""
        self._plan, self._ground, self._rng = plan, ground, rng
        self._spans: list[Span] = [ROOT]
        self._organisations, self._countries, self._registries = [0], [-1], [0]
        self._known: defaultdict[int, list[int]] = defaultdict(list)
        self._last_organisation = 0
        self._is_hosting = False
        self.cities: list[int] = []
        """City of each block of 256 addresses."""
        self.weights: list[float] = []
        """How likely a site is in each block."""
        self.customers: list[int] = []
        """Blocks of customers of access providers."""
        self.allocations = [0]
        """Rows of the root and the LIRs."""

    def tree(self, rows: list[int] | None = None) -> RegisteredRanges:
        """Nest the ranges, or some rows of them."""
        kept = range(len(self._spans)) if rows is None else rows
        registrations = Registrations(
            organisations=[self._organisations[row] for row in kept],
            countries=[self._countries[row] for row in kept],
            registries=[self._registries[row] for row in kept],
        )
        return RegisteredRanges([self._spans[row] for row in kept], registrations)

    def allocate(self, registry: int) -> None:
        """Hand out a registry's address space."""
        plan, rng = self._plan, self._rng
        cities = np.flatnonzero(self._ground.registry == registry)
        row = self._open(0, int(cities[0]), registry + 1, weight=0.0)
        self._countries[row] = -1
        sizes = rng.pareto(1.2, plan.lirs_each) + 0.2
        sizes *= plan.lirs_each * plan.customers_each / sizes.sum()
        for size in np.maximum(sizes.round(), 1).astype(int).tolist():
            home = int(rng.choice(cities))
            self._is_hosting = bool(rng.random() < plan.hosting)
            self._lir(home, registry + 1, size)
        self._close(row)

    def _lir(self, home: int, registry: int, customers: int) -> None:
        """Allocate to an LIR its block, its points of presence and their customers."""
        plan, rng = self._plan, self._rng
        owner = self._new_organisation(home)
        row = self._open(owner, home, registry)
        self.allocations.append(row)
        points = [self._point(home) for _ in range(int(rng.integers(1, plan.most_points + 1)))]
        shares = rng.multinomial(customers, np.full(len(points), 1 / len(points))).tolist()
        has_points = bool(rng.random() < plan.points)
        for city, share in zip(points, shares, strict=True):
            inner = [self._open(owner, city, registry)] if has_points else []
            if has_points and rng.random() < plan.resold:
                inner.append(self._open(self._new_organisation(city), city, registry))
            for _ in range(share):
                self._customer(city, registry)
            for one in reversed(inner):
                self._close(one)
        self._close(row)

    def _point(self, home: int) -> int:
        """Draw the city of a point of presence."""
        ground, rng = self._ground, self._rng
        if not self._is_hosting:
            return int(rng.choice(np.flatnonzero(ground.country == ground.country[home])))
        if rng.random() < self._plan.beyond:
            return int(rng.integers(len(ground.places)))
        return int(rng.choice(np.flatnonzero(ground.registry == ground.registry[home])))

    def _customer(self, city: int, registry: int) -> None:
        plan, rng, ground = self._plan, self._rng, self._ground
        if not self._is_hosting and rng.random() < plan.elsewhere:
            city = int(rng.choice(np.flatnonzero(ground.country == ground.country[city])))
        known = self._known[int(ground.country[city])]
        is_known = bool(known) and rng.random() < plan.known
        owner = int(rng.choice(known)) if is_known else self._new_organisation(city)
        row = self._open(owner, city, registry)
        if not self._is_hosting:
            self.customers.append(len(self.cities) - 1)
        if rng.random() < plan.divided:
            for _ in range(2):
                self._close(self._open(owner, city, registry))
        self._close(row)

    def _new_organisation(self, city: int) -> int:
        self._last_organisation += 1
        self._known[int(self._ground.country[city])].append(self._last_organisation)
        return self._last_organisation

    def _open(self, organisation: int, city: int, registry: int, weight: float | None = None) -> int:
        """Begin a range with a block of its own; return its row."""
        self._spans.append(span_of_subnets(len(self.cities), len(self.cities) + 1))
        self._organisations.append(organisation)
        self._countries.append(int(self._ground.country[city]))
        self._registries.append(registry)
        self.cities.append(city)
        drawn = float(np.exp(self._rng.standard_normal()))
        usual = drawn * (self._plan.hosting_sites if self._is_hosting else 1.0)
        self.weights.append(usual if weight is None else weight)
        return len(self._spans) - 1

    def _close(self, row: int) -> None:
        """End a range behind all that was handed out since it began."""
        family, first, _last = self._spans[row]
        self._spans[row] = family, first, FIRST_ADDRESS + len(self.cities) * SUBNET_SIZE - 1


def _crawler_blocks(
    plan: RegistryPlan, space: _AddressSpace, blocks: Rows, rng: np.random.Generator
) -> list[int]:
    """Draw customers' subnets in different cities."""
    found: dict[int, int] = {}
    for block in rng.permutation(space.customers).tolist():
        found.setdefault(int(blocks[block]), block)
    if len(found) < plan.crawlers:
        raise InputError(f"{plan.crawlers} crawlers need as many cities with customers, not {len(found)}")
    return list(found.values())[: plan.crawlers]


def _addresses(plan: RegistryPlan, space: _AddressSpace, rng: np.random.Generator) -> Rows:
    """Draw an address for each site; sites of a block are numbered."""
    weights = np.array(space.weights)
    drawn = rng.choice(len(weights), size=plan.sites, p=weights / weights.sum()).tolist()
    used: Counter[int] = Counter()
    numbers = []
    for block in drawn:
        used[block] += 1
        if used[block] >= HOSTS_PER_SUBNET:  # the last host is a crawler's
            raise InputError(f"{plan.sites} sites do not fit into {len(weights)} blocks: plan more LIRs")
        numbers.append(FIRST_ADDRESS + block * SUBNET_SIZE + used[block])
    return np.array(numbers, np.int64)
