"""The registries that allocate address space."""

from __future__ import annotations

from enum import IntEnum


class Registry(IntEnum):
    """The publisher of a registration; files store the number."""

    NONE = 0
    """The dump does not say."""
    AFRINIC = 1
    APNIC = 2
    ARIN = 3
    LACNIC = 4
    RIPE = 5
    IANA = 6
    """Not a regional registry: the source of the top level."""

    @property
    def label(self) -> str | None:
        """Lower-case name for display, None for NONE."""
        return None if self is Registry.NONE else self.name.lower()


SOURCES: dict[str, Registry] = {
    "ripe": Registry.RIPE,
    "apnic": Registry.APNIC,
    "afrinic": Registry.AFRINIC,
    "lacnic": Registry.LACNIC,
    "arin": Registry.ARIN,
    "jpnic": Registry.APNIC,
    "krnic": Registry.APNIC,
    "twnic": Registry.APNIC,
    "cnnic": Registry.APNIC,
    "idnic": Registry.APNIC,
    "vnnic": Registry.APNIC,
    "irinn": Registry.APNIC,
}
"""Values of `source:` in paragraph dialects; national registries count as APNIC."""

STATISTICS_NAMES: dict[str, Registry] = {
    "afrinic": Registry.AFRINIC,
    "apnic": Registry.APNIC,
    "arin": Registry.ARIN,
    "lacnic": Registry.LACNIC,
    "ripencc": Registry.RIPE,
    "iana": Registry.IANA,
}
"""First field of a line of statistics."""

REGISTRY_MAINTAINERS: tuple[str, ...] = (
    "AFRINIC-",
    "APNIC-",
    "LACNIC-",
    "MAINT-APNIC",
    "MAINT-CNNIC",
    "MAINT-IN-IRINN",
    "MAINT-JPNIC",
    "MAINT-TW-TWNIC",
    "MAINT-VN-VNNIC",
    "MNT-APJII",
    "MNT-APNIC",
    "MNT-KRNIC",
    "RIPE-DBM-",
    "RIPE-NCC-",
)
"""Maintainers with these prefixes are a registry's own and identify no holder."""
