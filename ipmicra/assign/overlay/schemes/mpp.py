"""MPP, middle point of payloads: halves the load of the zone instead of its volume."""

from __future__ import annotations

from ipmicra.assign.overlay.schemes.join import Cut, JoinView, median_of


def mpp(view: JoinView) -> Cut:
    """Cut the zone that holds the newcomer at its median site, dimension after dimension."""
    return median_of(view, view.zone)
