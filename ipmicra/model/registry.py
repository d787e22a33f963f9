"""The registries that hand out address space."""

from __future__ import annotations

from enum import IntEnum


class Registry(IntEnum):
    """Who published a registration; the number is what files store."""

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
        """Lower-case name as printed, None for NONE."""
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
"""First field of the lines of delegated statistics."""

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
"""Maintainers that start so are a registry's own and name no holder."""
