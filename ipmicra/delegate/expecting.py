"""Round trips that a policy expects, for those who assign sites after it has delegated their subnets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ipmicra.delegate.attempt import Attempt
from ipmicra.delegate.ports import LocationSource, Policy
from ipmicra.delegate.roster import Roster
from ipmicra.delegate.subnets import SubnetTree, key_of, row_of_key, slice_of
from ipmicra.model.crawler import Crawler
from ipmicra.model.location import Location
from ipmicra.model.site import Site
from ipmicra.model.types import Floats

Question = tuple[int, int, Location | None, tuple[tuple[int, float], ...]]
"""What an answer depends on: subnet, slice, place and samples."""


@runtime_checkable
class ExpectingPolicy(Policy, Protocol):
    """A policy with a model of round trips."""

    def expected_ms(self, attempt: Attempt) -> Floats | None:
        """Return the round trip to each crawler of the roster; None if nothing is known."""


class Expecting:
    """Asks a policy what it expects; changes nothing."""

    def __init__(
        self, policy: Policy, tree: SubnetTree, roster: Roster, locations: LocationSource | None
    ) -> None:
        """Share what the machine has."""
        self._policy = policy if isinstance(policy, ExpectingPolicy) else None
        self._tree, self._roster, self._locations = tree, roster, locations

    def filled(self, sites: Sequence[Site], crawlers: Sequence[Crawler], known_ms: Floats) -> Floats:
        """Return round trips of sites (rows), with NaN replaced by what the policy expects, if anything."""
        if self._policy is None:
            return known_ms
        indices = (self._roster.index_of(crawler.name) for crawler in crawlers)
        columns = np.array([-1 if index is None else index for index in indices], dtype=np.intp)
        filled, answers = known_ms.copy(), dict[Question, Floats | None]()
        for row, site in enumerate(sites):
            is_known = np.isfinite(known_ms[row])
            if is_known.all():
                continue
            sampled = ((columns >= 0) & is_known).nonzero()[0]
            samples = zip(columns[sampled].tolist(), known_ms[row, sampled].tolist(), strict=True)
            attempt = self._attempt(site, dict(samples))
            # Sites of one slice differ in nothing that a policy knows, unless they were sampled themselves.
            question = attempt.row, slice_of(site.address), attempt.location, tuple(attempt.samples.items())
            if question not in answers:
                answers[question] = self._policy.expected_ms(attempt)
            expected = answers[question]
            if expected is not None:
                estimate = np.where(columns >= 0, expected[columns], np.nan)
                filled[row] = np.where(is_known, known_ms[row], estimate)
        filled[~np.isfinite(filled)] = np.nan
        return filled

    def _attempt(self, site: Site, samples_ms: dict[int, float]) -> Attempt:
        location = self._locations.location_of(site, 0) if self._locations else None
        key = key_of(self._tree, site.address)
        attempt = Attempt(-1, key, row_of_key(self._tree, key), site.address, location)
        attempt.samples.update(samples_ms)
        return attempt
