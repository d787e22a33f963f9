"""MP, middle point: both crawlers end up inside their own zones (Xu et al.)."""

from __future__ import annotations

import numpy as np

from ipmicra.assign.overlay.schemes.join import Cut, JoinView, middle_of


def mp(view: JoinView) -> Cut:
    """Cut half-way between newcomer and owner, in the dimension in which they differ most."""
    old, new = view.owner_point(view.zone), view.point
    axis = int(np.abs(new - old).argmax())
    if old[axis] == new[axis]:
        return middle_of(view, view.zone)
    position = float(old[axis] + (new[axis] - old[axis]) / 2)
    if position <= min(old[axis], new[axis]):  # neighbouring floating-point numbers have no middle
        position = float(max(old[axis], new[axis]))
    return Cut(zone=view.zone, axis=axis, position=position, takes_upper=bool(new[axis] >= position))
