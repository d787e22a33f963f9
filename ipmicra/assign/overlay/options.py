"""What the papers leave open about the overlay, as options; reports name those used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Half(StrEnum):
    """Which half of a split zone a newcomer takes where its scheme does not say."""

    HOLDING = "holding"
    """The one that holds its coordinate, or is nearest to it."""
    RANDOM = "random"


class CutRule(StrEnum):
    """Where zones chosen for their load are cut (NH, GH)."""

    MIDDLE = "middle"
    MEDIAN = "median"
    """At the median site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayOptions:
    """How an overlay behaves."""

    half: Half = Half.HOLDING
    moves_sites: bool = True
    """Whether sites go with their part of a zone that is split; else they stay with the crawler that has
    them."""
    cut: CutRule = CutRule.MIDDLE
    is_torus: bool = False
    """Whether opposite ends of the space touch."""
