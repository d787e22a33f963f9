"""Location-aware delegation of web sites to crawlers, on the Internet's own address hierarchy."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipmicra.app.assign.recrawl import note_crawled
    from ipmicra.app.build.build import BuildOptions, BuildProgress, BuildReport, build
    from ipmicra.app.delegate.facade import Decision, Delegator
    from ipmicra.app.delegate.options import DelegateOptions
    from ipmicra.app.fleet.fleet import Fleet
    from ipmicra.app.locate import LocateOptions, LocateRun
    from ipmicra.app.report.config import ReportConfig
    from ipmicra.app.report.data import ReportCrawler, ReportData, ReportSite
    from ipmicra.app.report.write import write_report
    from ipmicra.assign.balance.assigner import Demand, Placement, assign_sites
    from ipmicra.assign.balance.pieces import Piece, cut_site
    from ipmicra.assign.coordinate.coordinates import Coordinates
    from ipmicra.assign.coordinate.space import Space
    from ipmicra.assign.overlay.overlay import Overlay
    from ipmicra.edge.coordinator.agent_client import AgentAccess
    from ipmicra.edge.hierarchy_file import Hierarchy
    from ipmicra.errors import (
        AddressError,
        AgentError,
        CapacityError,
        CorruptHierarchyError,
        CorruptStateError,
        DumpError,
        FetchError,
        HierarchyError,
        InputError,
        IpmicraError,
        MessageError,
        MissingHierarchyError,
        OverlayError,
        StoreBusyError,
        StoreError,
        TruncatedDumpError,
        UnknownDialectError,
        UnknownVersionError,
        WorldError,
    )
    from ipmicra.lab.evaluate.evaluate import EvaluateOptions, Evaluation, evaluate
    from ipmicra.locate.distance import DistanceSource
    from ipmicra.locate.locator import Clues, Located, Locator
    from ipmicra.model.assignment import Assignment
    from ipmicra.model.crawler import Capacity, Crawler, CrawlerState
    from ipmicra.model.delegation import Delegation, Evidence
    from ipmicra.model.edition import DumpRecord, Edition
    from ipmicra.model.finding import Fate, Finding, Reason, Tally
    from ipmicra.model.location import Heuristic, Hint, Location
    from ipmicra.model.organisation import HolderEvidence, Organisation
    from ipmicra.model.probe import Probe
    from ipmicra.model.recrawl import Crawled, Recrawl
    from ipmicra.model.registry import Registry
    from ipmicra.model.sample import Loss, Rung, Sample, Timings
    from ipmicra.model.site import Site
    from ipmicra.model.subnet import Subnet
    from ipmicra.partition.exchange import ExchangeConfig, UrlExchange

__all__ = [
    "AddressError",
    "AgentAccess",
    "AgentError",
    "Assignment",
    "BuildOptions",
    "BuildProgress",
    "BuildReport",
    "Capacity",
    "CapacityError",
    "Clues",
    "Coordinates",
    "CorruptHierarchyError",
    "CorruptStateError",
    "Crawled",
    "Crawler",
    "CrawlerState",
    "Decision",
    "DelegateOptions",
    "Delegation",
    "Delegator",
    "Demand",
    "DistanceSource",
    "DumpError",
    "DumpRecord",
    "Edition",
    "EvaluateOptions",
    "Evaluation",
    "Evidence",
    "ExchangeConfig",
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
    "Overlay",
    "OverlayError",
    "Piece",
    "Placement",
    "Probe",
    "Reason",
    "Recrawl",
    "Registry",
    "ReportConfig",
    "ReportCrawler",
    "ReportData",
    "ReportSite",
    "Rung",
    "Sample",
    "Site",
    "Space",
    "StoreBusyError",
    "StoreError",
    "Subnet",
    "Tally",
    "Timings",
    "TruncatedDumpError",
    "UnknownDialectError",
    "UnknownVersionError",
    "UrlExchange",
    "WorldError",
    "assign_sites",
    "build",
    "cut_site",
    "evaluate",
    "note_crawled",
    "write_report",
]

__version__ = "0.1.0"

_HOMES = {
    "ipmicra.app.build.build": "BuildOptions BuildProgress BuildReport build",
    "ipmicra.app.delegate.facade": "Decision Delegator",
    "ipmicra.app.delegate.options": "DelegateOptions",
    "ipmicra.lab.evaluate.evaluate": "EvaluateOptions Evaluation evaluate",
    "ipmicra.app.fleet.fleet": "Fleet",
    "ipmicra.app.locate": "LocateOptions LocateRun",
    "ipmicra.app.assign.recrawl": "note_crawled",
    "ipmicra.app.report.config": "ReportConfig",
    "ipmicra.app.report.data": "ReportCrawler ReportData ReportSite",
    "ipmicra.app.report.write": "write_report",
    "ipmicra.assign.balance.assigner": "Demand Placement assign_sites",
    "ipmicra.assign.balance.pieces": "Piece cut_site",
    "ipmicra.assign.coordinate.coordinates": "Coordinates",
    "ipmicra.assign.coordinate.space": "Space",
    "ipmicra.assign.overlay.overlay": "Overlay",
    "ipmicra.edge.coordinator.agent_client": "AgentAccess",
    "ipmicra.edge.hierarchy_file": "Hierarchy",
    "ipmicra.errors": (
        "AddressError AgentError CapacityError CorruptHierarchyError CorruptStateError DumpError "
        "FetchError HierarchyError InputError IpmicraError MessageError MissingHierarchyError "
        "OverlayError StoreBusyError StoreError TruncatedDumpError UnknownDialectError UnknownVersionError "
        "WorldError"
    ),
    "ipmicra.locate.distance": "DistanceSource",
    "ipmicra.locate.locator": "Clues Located Locator",
    "ipmicra.model.assignment": "Assignment",
    "ipmicra.model.crawler": "Capacity Crawler CrawlerState",
    "ipmicra.model.delegation": "Delegation Evidence",
    "ipmicra.model.edition": "DumpRecord Edition",
    "ipmicra.model.finding": "Fate Finding Reason Tally",
    "ipmicra.model.location": "Heuristic Hint Location",
    "ipmicra.model.organisation": "HolderEvidence Organisation",
    "ipmicra.model.probe": "Probe",
    "ipmicra.model.recrawl": "Crawled Recrawl",
    "ipmicra.model.registry": "Registry",
    "ipmicra.model.sample": "Loss Rung Sample Timings",
    "ipmicra.model.site": "Site",
    "ipmicra.model.subnet": "Subnet",
    "ipmicra.partition.exchange": "ExchangeConfig UrlExchange",
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
