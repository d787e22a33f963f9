"""Every tuning number of the coordinates.

[1] Ng & Zhang, INFOCOM 2002 (GNP). [2] Dabek et al., SIGCOMM 2004 (Vivaldi). [3] Marquardt, 1963. [4] Xu et
al. 2010 (GNP in three dimensions with 20 landmarks; bounds of the space). Where none is cited the number is
ours, set on synthetic worlds (docs/coordinates.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentConfig:
    """Tuning of the damped least squares."""

    rounds: int = 60
    """Steps at most; most hosts need fewer than fifteen."""
    first_damping: float = 0.01
    """Weight of the diagonal at the first step; the customary start of [3]."""
    damping_down: float = 0.25
    """Factor after a step that helped."""
    damping_up: float = 5.0
    """Factor after a step that did not."""
    enough: float = 1e-4
    """A step that lowers the error by less than this part of it is the last."""
    batch: int = 1024
    """Hosts worked on at a time, so that their arrays stay in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GnpConfig:
    """How hosts are placed among landmarks."""

    dimensions: int = 3
    """Three in [4]."""
    has_height: bool = False
    """Whether a host has a height, the time of its own access link, that counts in every round trip [2]."""
    nearness: float = 1.0
    """Errors are divided by the round trip to this power; 1 is the relative error of [1], 2 trusts near ones
    more."""
    starts: int = 1
    """Places from which a host's descent starts; the best end counts."""
    landmark_starts: int = 2
    """The same for the landmarks, which are fewer and matter more."""
    descent: DescentConfig = field(default_factory=DescentConfig)

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.dimensions < 1 or self.starts < 1 or self.landmark_starts < 1:
            raise InputError("dimensions and starts must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class VivaldiConfig:
    """Tuning of Vivaldi; the letters are those of [2]."""

    dimensions: int = 3
    rounds: int = 400
    """Samples that each crawler takes in turn."""
    error_gain: float = 0.25
    """Weight of one sample in the error estimate; c_e."""
    step_gain: float = 0.25
    """Part of the way that one sample moves a coordinate; c_c."""
    first_error: float = 1.0
    """Relative error with which a coordinate starts: it knows nothing."""
    least_height_ms: float = 0.1
    """A height never falls below this: no access link is free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgeConfig:
    """Tuning of the correction that is learnt from the crawlers' own rows."""

    floor_ms: float = 5.0
    """Added before the logarithm, so that the noise of the shortest round trips does not rule."""
    widths: tuple[float, ...] = (0.03, 0.1, 0.3)
    """Widths of the bell over landmark vectors, as parts of the median squared distance; tried in turn."""
    slopes: tuple[float, ...] = (0.0, 0.3, 1.0, 3.0)
    """Weights of the linear part over what the embedding leaves unexplained; tried in turn."""
    penalties: tuple[float, ...] = (0.3, 1.0, 3.0)
    """Ridge penalties; tried in turn."""
    kept: int = 8
    """So many of the settings that predict left-out crawlers best are averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlendConfig:
    """Embeddings that the default method tries; each counts by how well it names nearest crawlers."""

    dimensions: tuple[int, ...] = (3, 5, 7)
    nearness: tuple[float, ...] = (1.0, 2.0)
    heights: tuple[bool, ...] = (False, True)
    noise: float = 0.2
    """Relative error of a single round trip that the choice of landmarks reckons with."""
    ridge: RidgeConfig = field(default_factory=RidgeConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConfig:
    """How coordinates follow delegation's own samples."""

    remembered: int = 5
    """Samples kept of one pair; their median counts."""
    pull: float = 0.3
    """Weight of the place expected of a subnet (its siblings' mean) against one sample, in relative error."""
