"""Landmarks: the crawlers that measure sites, chosen by the round trips between all."""

from __future__ import annotations

import numpy as np

from ipmicra.app.assign.round_trips import MedianRoundTrips
from ipmicra.assign.coordinate.config import BlendConfig
from ipmicra.assign.coordinate.landmarks import choose_landmarks
from ipmicra.assign.coordinate.samples import clean_mutual
from ipmicra.edge.store.ports import Member, StorePort
from ipmicra.errors import InputError


def landmarks_of(members: dict[str, Member], store: StorePort, count: int) -> dict[str, Member]:
    """Choose landmarks among crawlers with an agent; all of them where they are not more."""
    if len(members) <= count:
        return members
    crawlers = [member.crawler for member in members.values()]
    trips = MedianRoundTrips(samples=store.samples)
    mutual = clean_mutual(trips.expected_ms([one.address for one in crawlers], crawlers))
    if np.isfinite(mutual).any(axis=1).sum() < count:
        raise InputError(
            f"{count} landmarks cannot be chosen before the crawlers have measured each other: "
            "`ipmicra crawler measure` orders the probes; or name crawlers with --from"
        )
    config = BlendConfig()
    chosen = choose_landmarks(mutual, count, floor_ms=config.ridge.floor_ms, noise=config.noise)
    return {crawlers[number].name: members[crawlers[number].name] for number in sorted(chosen.tolist())}
