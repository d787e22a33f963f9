"""NH, neighbouring high-load: splits where the load is highest nearby."""

from __future__ import annotations

from ipmicra.assign.overlay.options import CutRule
from ipmicra.assign.overlay.schemes.join import Cut, JoinView, median_of, middle_of


def nh(view: JoinView) -> Cut:
    """Cut the most loaded of the newcomer's zone and its neighbours; its own one among equals."""
    zone = max([view.zone, *view.neighbours(view.zone)], key=view.load)
    return median_of(view, zone) if view.options.cut is CutRule.MEDIAN else middle_of(view, zone)
