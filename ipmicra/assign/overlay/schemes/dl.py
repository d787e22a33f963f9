"""DL, dimension loop: the original scheme of CAN (Ratnasamy et al. 2001)."""

from __future__ import annotations

from ipmicra.assign.overlay.schemes.join import Cut, JoinView, middle_of


def dl(view: JoinView) -> Cut:
    """Cut the zone that holds the newcomer in the middle, dimension after dimension."""
    return middle_of(view, view.zone)
