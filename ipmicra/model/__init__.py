"""The nouns of ipmicra: frozen, standard library only."""

from ipmicra.model.finding import FATE_OF, Fate, Finding, Reason, Tally
from ipmicra.model.registry import REGISTRY_MAINTAINERS, SOURCES, STATISTICS_NAMES, Registry

__all__ = [
    "FATE_OF",
    "REGISTRY_MAINTAINERS",
    "SOURCES",
    "STATISTICS_NAMES",
    "Fate",
    "Finding",
    "Reason",
    "Registry",
    "Tally",
]
