"""Expected round trips by distance on the Earth, as far as samples teach them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ipmicra.locate.chain import WIDE_KM
from ipmicra.locate.distance import DistanceSource
from ipmicra.model.address import Address
from ipmicra.model.crawler import Crawler
from ipmicra.model.geo import km_between
from ipmicra.model.location import Location
from ipmicra.model.sample import Sample


def learn_distances(
    samples: Iterable[Sample], crawlers: Iterable[Crawler], place_of: Callable[[Address], Location | None]
) -> DistanceSource:
    """Learn from samples whose two ends have a place; one that is as vague as a country teaches nothing."""
    stands = {one.name: one.location for one in crawlers}
    places: dict[Address, Location | None] = {}
    km: list[float] = []
    rtt_ms: list[float] = []
    for sample in samples:
        here = stands.get(sample.crawler)
        if here is None or sample.rtt_ms is None:
            continue
        if sample.address not in places:
            places[sample.address] = place_of(sample.address)
        there = places[sample.address]
        if there is not None and there.radius_km <= WIDE_KM:
            km.append(km_between(here, there))
            rtt_ms.append(sample.rtt_ms)
    source = DistanceSource()
    if km:
        source.learn(km, rtt_ms)
    return source
