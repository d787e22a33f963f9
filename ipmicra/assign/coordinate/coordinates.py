"""Coordinates of a fleet and of the subnets it measures: fit, update, predict.

How it works
------------
`fit` places the crawlers by the round trips between them and never moves them again: one embedding, or
several that are averaged (`blend.py`), and for some methods a ridge regression that corrects their mean. A
host is placed among the crawlers by its own samples and nothing else. `update` keeps delegation's samples
by subnet (`subnets.py`); a subnet is placed when somebody asks for it, and one without samples inherits
from the nearest relatives that have some.

What was measured is returned as measured (of a subnet, the median of its last samples); estimates only fill
the gaps. Landmarks are the crawlers that measure hosts: the ridge uses their samples alone, while samples
of any crawler help to place a host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ipmicra.assign.coordinate import saved
from ipmicra.assign.coordinate.blend import Blend, Rows, blend, fit_gnp, fit_members, fit_vivaldi
from ipmicra.assign.coordinate.config import BlendConfig, GnpConfig, UpdateConfig, VivaldiConfig
from ipmicra.assign.coordinate.landmarks import choose_landmarks
from ipmicra.assign.coordinate.samples import clean, clean_mutual
from ipmicra.assign.coordinate.subnets import SubnetBook
from ipmicra.errors import InputError
from ipmicra.model.types import Floats

METHODS = ("gnp", "gnp-height", "gnp-7d", "vivaldi", "ridge", "blend")
"""What `fit` knows; the last one, the default, tries and weighs embeddings of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatesConfig:
    """Tuning of everything that coordinates are made by."""

    gnp: GnpConfig = field(default_factory=GnpConfig)
    vivaldi: VivaldiConfig = field(default_factory=VivaldiConfig)
    blend: BlendConfig = field(default_factory=BlendConfig)
    update: UpdateConfig = field(default_factory=UpdateConfig)


class Coordinates:
    """A fleet in coordinate space, and its predictions of unmeasured round trips.

    Crawlers are numbered as the rows of the table they were fitted from. Samples are tables of hosts ×
    crawlers in milliseconds with NaN where there is none; zero, negative and infinite values count as
    missing.
    """

    def __init__(self, blended: Blend, *, method: str = "blend", update: UpdateConfig | None = None) -> None:
        """Take what `fit` or `from_bytes` made."""
        self.method = method
        self._blend = blended
        self._book = SubnetBook(blended, update or UpdateConfig())

    @classmethod
    def fit(
        cls,
        mutual_ms: ArrayLike,
        *,
        rng: np.random.Generator,
        landmarks: int | Sequence[int] = 20,
        method: str = "blend",
        config: CoordinatesConfig | None = None,
    ) -> Self:
        """Place a fleet by the round trips between its crawlers.

        `landmarks` are the crawlers that are to measure hosts: their numbers, or how many to choose.
        """
        config = config or CoordinatesConfig()
        if method not in METHODS:
            raise InputError(f"no method named {method!r}; there are {', '.join(METHODS)}")
        mutual = clean_mutual(mutual_ms)
        chosen = _landmarks(mutual, landmarks, config.blend)
        return cls(_fitted(mutual, chosen, method, config, rng), method=method, update=config.update)

    def __repr__(self) -> str:
        """Show method and counts."""
        return (
            f"<Coordinates {self.method}: {self.crawlers} crawlers, {len(self.landmarks)} landmarks, "
            f"{len(self._book)} subnets>"
        )

    @property
    def crawlers(self) -> int:
        """Number of crawlers."""
        return len(self._blend.members[0].crawlers.points)

    @property
    def landmarks(self) -> Rows:
        """Numbers of the crawlers that measure hosts."""
        return self._blend.landmarks

    def points(self, rtt_ms: ArrayLike | None = None) -> Floats:
        """Return coordinates in the first embedding: of the crawlers, or of hosts with these samples."""
        first = self._blend.members[0]
        return (first.crawlers if rtt_ms is None else first.placed(self._samples(rtt_ms))).points

    def errors(self, rtt_ms: ArrayLike) -> Floats:
        """Return each host's mean relative error in the first embedding; NaN for hosts without samples."""
        return self._blend.members[0].placed(self._samples(rtt_ms)).error

    def predict(self, rtt_ms: ArrayLike) -> Floats:
        """Estimate the round trips of hosts to all crawlers; what was measured stays as measured."""
        samples = self._samples(rtt_ms)
        return np.where(np.isfinite(samples), samples, self._blend.estimates(samples))

    def nearest(self, rtt_ms: ArrayLike, count: int = 1) -> NDArray[np.intp]:
        """Return the crawlers most likely to be the nearest, best first.

        Of the crawlers that measured a host only the best can be the nearest one: the others come last.
        """
        samples = self._samples(rtt_ms)
        return rank(self.predict(samples), samples, count)

    def update(
        self,
        subnets: ArrayLike,
        crawlers: ArrayLike,
        rtt_ms: ArrayLike,
        *,
        lineage_of: Callable[[int], Sequence[int]] | None = None,
    ) -> int:
        """Take in delegation's own samples, one per place of the three arrays; return how many were usable.

        A subnet is named by its row in the hierarchy. `lineage_of` gives the rows that hold it, widest
        first; with it, subnets without a sample inherit from their siblings.
        """
        return self._book.update(np.asarray(subnets), np.asarray(crawlers), np.asarray(rtt_ms), lineage_of)

    def predict_subnets(
        self, subnets: ArrayLike, *, lineage_of: Callable[[int], Sequence[int]] | None = None
    ) -> Floats:
        """Estimate the round trips of subnets to all crawlers; NaN where nothing at all is known."""
        return self._book.predict([int(row) for row in np.asarray(subnets)], lineage_of)

    def subnet_points(
        self, subnets: ArrayLike, *, lineage_of: Callable[[int], Sequence[int]] | None = None
    ) -> Floats:
        """Return coordinates of subnets in the first embedding; NaN for those without a sample."""
        return self._book.points([int(row) for row in np.asarray(subnets)], lineage_of)

    def without_subnets(self) -> Self:
        """Return the same fleet, with nothing learnt of any subnet."""
        return type(self)(self._blend, method=self.method, update=self._book.config)

    def to_bytes(self) -> bytes:
        """Save: a versioned, checksummed form that `from_bytes` reads."""
        return saved.to_bytes(self.method, self._blend, self._book)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Restore; anything damaged raises CorruptStateError."""
        method, blended, config, samples = saved.from_bytes(data)
        restored = cls(blended, method=method, update=config)
        restored._book.restore(samples)
        return restored

    def _samples(self, rtt_ms: ArrayLike) -> Floats:
        samples = clean(rtt_ms).rtt_ms
        if samples.shape[1] != self.crawlers:
            raise InputError(
                f"samples have {samples.shape[1]} columns, but there are {self.crawlers} crawlers"
            )
        return samples


def rank(estimated_ms: Floats, samples: Floats, count: int) -> NDArray[np.intp]:
    """Order crawlers by how likely each is the nearest; see `Coordinates.nearest`."""
    is_measured = np.isfinite(samples)
    best = np.where(is_measured, samples, np.inf).min(axis=1, keepdims=True)
    is_beaten = is_measured & (samples > best)
    return np.lexsort((estimated_ms, is_beaten), axis=1)[:, :count]


def _landmarks(mutual_ms: Floats, wanted: int | Sequence[int], config: BlendConfig) -> Rows:
    """Choose landmarks, or check those that were named."""
    if isinstance(wanted, int | np.integer):
        return choose_landmarks(mutual_ms, int(wanted), floor_ms=config.ridge.floor_ms, noise=config.noise)
    named = np.asarray(wanted, dtype=np.intp)
    if (
        not len(named)
        or len(np.unique(named)) != len(named)
        or named.min() < 0
        or named.max() >= len(mutual_ms)
    ):
        raise InputError(f"landmarks must be different crawlers, numbered 0 to {len(mutual_ms) - 1}")
    return named


def _fitted(
    mutual_ms: Floats, landmarks: Rows, method: str, config: CoordinatesConfig, rng: np.random.Generator
) -> Blend:
    """Fit by a method's name."""
    floor_ms = config.blend.ridge.floor_ms
    if method == "blend":
        members = fit_members(mutual_ms, landmarks, config.blend, rng)
    elif method == "vivaldi":
        members = (fit_vivaldi(mutual_ms, landmarks, config.vivaldi, floor_ms, rng),)
    else:
        kinds = {"gnp-height": GnpConfig(has_height=True), "gnp-7d": GnpConfig(dimensions=7)}
        members = (fit_gnp(mutual_ms, landmarks, kinds.get(method, config.gnp), floor_ms, rng),)
    return blend(mutual_ms, landmarks, members, config.blend, has_ridge=method in {"ridge", "blend"})
