"""Every tuning number of zones that are kept from call to call.

[1] Xu, Zhang, Zhang & Fang, IEICE Trans. 2010. [2] Xu et al., splitting schemes. Where none is cited the
number is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ipmicra.assign.overlay.schemes import scheme_named
from ipmicra.errors import InputError

WIDEST = 20
"""Dimensions beyond which nobody has landmarks enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneConfig:
    """How zones are drawn."""

    scheme: str = "MP"
    """How a zone is split when a crawler joins; MP has the shortest distances in [2]."""
    dimensions: int = 3
    """Of coordinate space [1]; fewer where there are too few crawlers."""
    moved: float = 0.05
    """Share of the known coordinates that the bounds of the space move inwards: what λ is chosen for [1]."""
    most_moved: float = 0.25
    """Share beyond which kept bounds no longer fit, and are learnt again."""
    least_ms: float = 1.0
    """A space with a shorter diagonal tells nothing apart: no network was measured there."""
    turns: int = 16
    """Directions of the axes that are tried where a fleet joins at once."""
    orders: int = 16
    """Orders of joining that are tried in each."""
    slow_turns: int = 2
    slow_orders: int = 4
    """The same for schemes that are not compiled."""
    imagined: int = 16
    """Sites imagined around each crawler while orders are tried."""
    imagined_weight: float = 0.25
    """What an imagined site counts beside a real one."""
    seed: int = 1
    """Of turns, orders and imagined sites."""

    @property
    def wished(self) -> dict[str, Any]:
        """What a user may choose; zones are drawn anew where it changes."""
        return {"scheme": self.scheme.upper(), "dimensions": self.dimensions, "moved": self.moved}

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        scheme_named(self.scheme)
        if not 1 <= self.dimensions <= WIDEST:
            raise InputError(f"coordinates have 1 to {WIDEST} dimensions, not {self.dimensions}")
        if not 0 <= self.moved < 0.5:  # noqa: PLR2004
            raise InputError(
                f"the bounds of the space move between 0 and half of the sites, not {self.moved}"
            )
