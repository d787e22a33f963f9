"""GH, global high-load: splits where the load is highest of all."""

from __future__ import annotations

from ipmicra.assign.overlay.options import CutRule
from ipmicra.assign.overlay.schemes.join import Cut, JoinView, median_of, middle_of


def gh(view: JoinView) -> Cut:
    """Cut a zone of the most loaded crawler, wherever it is."""
    zone = view.most_loaded()
    return median_of(view, zone) if view.options.cut is CutRule.MEDIAN else middle_of(view, zone)
