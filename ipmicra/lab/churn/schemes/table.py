"""All schemes by name."""

from __future__ import annotations

from functools import partial

from ipmicra.assign.balance.config import LBI_RTT
from ipmicra.errors import InputError
from ipmicra.lab.churn.scheme import Scheme
from ipmicra.lab.churn.schemes.binding import Neighbourly, Pool
from ipmicra.lab.churn.schemes.chord import Chord
from ipmicra.lab.churn.schemes.zones import Lbi, hash_can, nc_can

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme(name="dht", make=hash_can),
        Scheme(name="chord", make=Chord),
        Scheme(name="nc-can", make=nc_can),
        Scheme(name="lbi", make=Lbi),
        Scheme(name="lbi-rtt", make=partial(Lbi, config=LBI_RTT)),
        Scheme(name="lbi-split", make=Lbi, is_split=True),
        Scheme(name="balance-neighbours", make=Neighbourly, is_split=True),
        Scheme(name="balance", make=Pool, is_split=True, is_central=True),
    )
}
"""In the order of the report: the paper's, then ours without and with a central view."""


def scheme_named(name: str) -> Scheme:
    """Return a scheme; an unknown name is refused with the known ones."""
    if name not in SCHEMES:
        raise InputError(f"no scheme named {name!r}; there are {', '.join(SCHEMES)}")
    return SCHEMES[name]
