"""Splitting schemes: which zone a newcomer splits, and where. One small function per file."""

from __future__ import annotations

from ipmicra.assign.overlay.schemes.dl import dl
from ipmicra.assign.overlay.schemes.gh import gh
from ipmicra.assign.overlay.schemes.join import Cut, JoinView, Scheme
from ipmicra.assign.overlay.schemes.mp import mp
from ipmicra.assign.overlay.schemes.mpp import mpp
from ipmicra.assign.overlay.schemes.nh import nh
from ipmicra.assign.overlay.schemes.ns import ns
from ipmicra.assign.overlay.schemes.switch import switch
from ipmicra.errors import InputError

SCHEMES: dict[str, Scheme] = {"DL": dl, "MPP": mpp, "NH": nh, "GH": gh, "MP": mp, "NS": ns}
"""By name; `A_30_B` is made of two of them."""
__all__ = ["SCHEMES", "Cut", "JoinView", "Scheme", "scheme_named"]


def scheme_named(name: str) -> Scheme:
    """Return a scheme by its name; `MP_30_NH` splits as MP for the first 30 % of crawlers, then as NH."""
    parts = name.upper().split("_")
    if len(parts) == 1 and parts[0] in SCHEMES:
        return SCHEMES[parts[0]]
    is_switch = len(parts) == 3 and parts[1].isdigit() and int(parts[1]) <= 100  # noqa: PLR2004
    if is_switch and parts[0] in SCHEMES and parts[2] in SCHEMES:
        return switch(SCHEMES[parts[0]], int(parts[1]) / 100, SCHEMES[parts[2]])
    names = ", ".join(SCHEMES)
    raise InputError(f"no splitting scheme named {name!r}: there are {names}, and two joined as in MP_30_NH")
