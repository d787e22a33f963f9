"""Location-aware delegation of web sites to crawlers, on the Internet's own address hierarchy."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipmicra.app.build import BuildOptions, BuildProgress, BuildReport, build
    from ipmicra.app.delegating.facade import Decision, Delegator
    from ipmicra.app.delegating.options import DelegateOptions
    from ipmicra.app.evaluate import EvaluateOptions, Evaluation, evaluate
    from ipmicra.app.fleet import Fleet
    from ipmicra.app.locate import LocateOptions, LocateRun
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.errors import (
        AddressError,
        AgentError,
        CapacityError,
        CorruptHierarchyError,
        DumpError,
        FetchError,
        HierarchyError,
        InputError,
        IpmicraError,
        MessageError,
        MissingHierarchyError,
        StoreError,
        TruncatedDumpError,
        UnknownDialectError,
        UnknownVersionError,
        WorldError,
    )
    from ipmicra.locate.distance import DistanceSource
    from ipmicra.locate.locator import Clues, Located, Locator
    from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
    from ipmicra.model.delegation import Delegation, Evidence
    from ipmicra.model.edition import DumpRecord, Edition
    from ipmicra.model.finding import Fate, Finding, Reason, Tally
    from ipmicra.model.location import Heuristic, Hint, Location
    from ipmicra.model.organisation import HolderEvidence, Organisation
    from ipmicra.model.probe import Probe
    from ipmicra.model.registry import Registry
    from ipmicra.model.sample import Loss, Rung, Sample, Timings
    from ipmicra.model.site import Site
    from ipmicra.model.subnet import Subnet

__all__ = [
    "AddressError",
    "AgentError",
    "BuildOptions",
    "BuildProgress",
    "BuildReport",
    "Capacity",
    "CapacityError",
    "Clues",
    "CorruptHierarchyError",
    "Crawler",
    "CrawlerState",
    "Decision",
    "DelegateOptions",
    "Delegation",
    "Delegator",
    "DistanceSource",
    "DumpError",
    "DumpRecord",
    "Edition",
    "EvaluateOptions",
    "Evaluation",
    "Evidence",
    "Fate",
    "FetchError",
    "Finding",
    "Fleet",
    "Heuristic",
    "Hierarchy",
    "HierarchyError",
    "Hint",
    "HolderEvidence",
    "InputError",
    "IpmicraError",
    "LocateOptions",
    "LocateRun",
    "Located",
    "Location",
    "Locator",
    "Loss",
    "MessageError",
    "MissingHierarchyError",
    "Organisation",
    "Probe",
    "Reason",
    "Registry",
    "Rung",
    "Sample",
    "Site",
    "StoreError",
    "Subnet",
    "Tally",
    "Timings",
    "TruncatedDumpError",
    "UnknownDialectError",
    "UnknownVersionError",
    "WorldError",
    "build",
    "evaluate",
]

__version__ = "0.1.0"

_HOMES = {
    "ipmicra.app.build": "BuildOptions BuildProgress BuildReport build",
    "ipmicra.app.delegating.facade": "Decision Delegator",
    "ipmicra.app.delegating.options": "DelegateOptions",
    "ipmicra.app.evaluate": "EvaluateOptions Evaluation evaluate",
    "ipmicra.app.fleet": "Fleet",
    "ipmicra.app.locate": "LocateOptions LocateRun",
    "ipmicra.edge.hierarchy_file": "Hierarchy",
    "ipmicra.errors": (
        "AddressError AgentError CapacityError CorruptHierarchyError DumpError FetchError "
        "HierarchyError InputError IpmicraError MessageError MissingHierarchyError StoreError "
        "TruncatedDumpError UnknownDialectError UnknownVersionError WorldError"
    ),
    "ipmicra.locate.distance": "DistanceSource",
    "ipmicra.locate.locator": "Clues Located Locator",
    "ipmicra.model.crawler": "Capacity Crawler CrawlerState",
    "ipmicra.model.delegation": "Delegation Evidence",
    "ipmicra.model.edition": "DumpRecord Edition",
    "ipmicra.model.finding": "Fate Finding Reason Tally",
    "ipmicra.model.location": "Heuristic Hint Location",
    "ipmicra.model.organisation": "HolderEvidence Organisation",
    "ipmicra.model.probe": "Probe",
    "ipmicra.model.registry": "Registry",
    "ipmicra.model.sample": "Loss Rung Sample Timings",
    "ipmicra.model.site": "Site",
    "ipmicra.model.subnet": "Subnet",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: a look-up needs neither the compiler nor the builder."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
