"""Populations for the papers' experiments: round trips between nodes, seeded or read from a matrix.

How it works
------------
The papers ran on two populations, of which neither the exact topology nor the draws are published; these
have the same numbers of nodes and the same traits.

- `transit_stub`: routers of a few transit domains on a plane, fully linked inside a domain and by one link
  between each two domains; stub domains around routers, hosts around stub domains. A round trip is the
  shortest path over routers plus both access lines, or the straight line inside a stub domain if that is
  shorter. Distances obey the triangle inequality, so coordinates fit well: the easy case.
- `king_like`: dense clusters in three dimensions with a log-normal access delay per node, noise on every
  pair, and a few pairs that take a detour. The access delays and detours break the triangle inequality as
  the measured King data do: the hard case.
- `of_matrix`: a user's own measurements, divided into crawlers, landmarks and sites in King's proportions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ipmicra.errors import InputError
from ipmicra.model.types import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Nodes and how an experiment divides them; the numbers are those of Table I of Xu et al."""

    name: str
    rtt_ms: Floats
    """Round trips between all nodes; the diagonal is 0."""
    crawlers: int
    landmarks: int
    """Crawlers that are landmarks as well."""
    initial: int
    """Sites inserted while there is one crawler."""
    per_join: int
    """Sites inserted at each join; the rest follow when all have joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitStub:
    """Shape of a Transit–Stub net; delays grow with distance on a plane, as in BRITE's model."""

    domains: int = 4
    transits: int = 5
    """Transit routers of a domain."""
    stubs: int = 5
    """Stub domains of a transit router."""
    hosts: int = 30
    """Hosts of a stub domain."""
    plane_ms: float = 200.0
    """Round trip from side to side."""
    domain_share: float = 0.12
    """Spread of a domain's routers, as a part of the plane."""
    stub_share: float = 0.06
    """Spread of stub domains around their router."""
    host_share: float = 0.025
    """Spread of hosts around the centre of their stub domain."""


def transit_stub(rng: np.random.Generator, shape: TransitStub | None = None) -> Population:
    """Make a Transit–Stub population of 3000 hosts in 100 stub domains (unless the shape says otherwise)."""
    shape = shape or TransitStub()
    domain_at = rng.random((shape.domains, 2))
    routers = np.repeat(domain_at, shape.transits, axis=0)
    routers = routers + rng.normal(0, shape.domain_share, routers.shape)
    between = _shortest(_transit_links(routers, shape, rng))
    stub_router = np.repeat(np.arange(len(routers)), shape.stubs)
    stubs = routers[stub_router] + rng.normal(0, shape.stub_share, (len(stub_router), 2))
    host_stub = np.repeat(np.arange(len(stubs)), shape.hosts)
    hosts = stubs[host_stub] + rng.normal(0, shape.host_share, (len(host_stub), 2))
    router = stub_router[host_stub]
    access = np.linalg.norm(hosts - routers[router], axis=1)
    path = between[np.ix_(router, router)] + (access[:, None] + access)
    is_local = host_stub[:, None] == host_stub[None]
    rtt = np.where(is_local, np.minimum(path, _apart(hosts)), path) * shape.plane_ms
    np.fill_diagonal(rtt, 0)
    count = len(hosts)
    return Population(
        name="ts",
        rtt_ms=rtt,
        crawlers=count // 15,
        landmarks=20,
        initial=count // 15,
        per_join=10,
    )


def _apart(points: Floats) -> Floats:
    """Return the distances between all pairs of points."""
    squares = (points**2).sum(axis=1)
    total = squares[:, None] + squares - 2 * points @ points.T
    distances: Floats = np.sqrt(np.maximum(total + total.T, 0) / 2)  # both ways alike to the last digit
    return distances


def _transit_links(routers: Floats, shape: TransitStub, rng: np.random.Generator) -> Floats:
    """Link all routers of a domain, and each two domains by one link; infinite where there is none."""
    length = _apart(routers)
    domain = np.repeat(np.arange(shape.domains), shape.transits)
    links = np.where(domain[:, None] == domain[None], length, np.inf)
    for one in range(shape.domains):
        for other in range(one):
            a = one * shape.transits + int(rng.integers(shape.transits))
            b = other * shape.transits + int(rng.integers(shape.transits))
            links[a, b] = links[b, a] = length[a, b]
    return links


def _shortest(links: Floats) -> Floats:
    """Return the lengths of shortest paths (Floyd and Warshall)."""
    paths = links.copy()
    for middle in range(len(paths)):
        paths = np.minimum(paths, paths[:, middle : middle + 1] + paths[middle])
    return paths


@dataclass(frozen=True, slots=True, kw_only=True)
class KingLike:
    """Shape of a world like the King measurements: few dense clusters, heavy tail, broken triangles."""

    nodes: int = 1740
    clusters: int = 7
    spread_ms: float = 55.0
    """Standard deviation of the clusters' places, per dimension."""
    cluster_ms: float = 12.0
    """The same inside a cluster."""
    access_ms: float = 4.0
    """Median of the access delay, which is log-normal."""
    access_tail: float = 1.0
    """Its logarithm's standard deviation."""
    noise: float = 0.1
    """Standard deviation of the logarithm of every round trip."""
    detours: float = 0.05
    """Share of pairs whose route is a detour, up to three times as long."""


def king_like(rng: np.random.Generator, shape: KingLike | None = None) -> Population:
    """Make a population like the King data set, with its numbers of nodes and crawlers."""
    shape = shape or KingLike()
    centres = rng.normal(0, shape.spread_ms, (shape.clusters, 3))
    shares = rng.dirichlet(np.full(shape.clusters, 2.0))
    places = centres[rng.choice(shape.clusters, shape.nodes, p=shares)]
    places = places + rng.normal(0, shape.cluster_ms, places.shape)
    access = shape.access_ms * np.exp(rng.normal(0, shape.access_tail, shape.nodes))
    factor = np.exp(rng.normal(0, shape.noise, (shape.nodes, shape.nodes)))
    is_detour = rng.random(factor.shape) < shape.detours
    factor = np.where(is_detour, factor * rng.uniform(1, 3, factor.shape), factor)
    factor = np.triu(factor, 1)
    rtt = (_apart(places) + (access[:, None] + access)) * (factor + factor.T)
    np.fill_diagonal(rtt, 0)
    return Population(name="king-like", rtt_ms=rtt, crawlers=140, landmarks=20, initial=60, per_join=9)


def of_matrix(name: str, rtt_ms: Floats) -> Population:
    """Divide the nodes of any matrix as King's are: 8 % crawlers, 3.5 % initial sites, 72 % at joins."""
    count = len(rtt_ms)
    if count < 30:  # noqa: PLR2004
        raise InputError(f"{name}: {count} nodes are too few for crawlers, landmarks and sites")
    crawlers = max(round(count * 140 / 1740), 5)
    return Population(
        name=name,
        rtt_ms=rtt_ms,
        crawlers=crawlers,
        landmarks=min(20, crawlers),
        initial=round(count * 60 / 1740),
        per_join=9,
    )
