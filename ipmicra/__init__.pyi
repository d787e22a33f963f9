"""The public names, each with its home.

Type checkers read this file, and so does `lazy_loader` at run time: a name that is added here is public, and
is imported from its home when it is first used. (`X as X` is how a stub says that a name is exported.)
"""

from .app.assign.recrawl import note_crawled as note_crawled
from .app.build.build import BuildOptions as BuildOptions
from .app.build.build import BuildProgress as BuildProgress
from .app.build.build import BuildReport as BuildReport
from .app.build.build import build as build
from .app.delegate.delegator import Delegator as Delegator
from .app.delegate.options import DelegateOptions as DelegateOptions
from .app.fleet.fleet import Fleet as Fleet
from .app.forget import Forgetting as Forgetting
from .app.forget import forget as forget
from .app.locate.locate import LocateOptions as LocateOptions
from .app.locate.locate import LocateRun as LocateRun
from .app.report.config import ReportConfig as ReportConfig
from .app.report.data import ReportCrawler as ReportCrawler
from .app.report.data import ReportData as ReportData
from .app.report.data import ReportSite as ReportSite
from .app.report.write import write_report as write_report
from .assign.balance.auction.assigner import assign_sites as assign_sites
from .assign.balance.config import AuctionConfig as AuctionConfig
from .assign.balance.demand import AssignedSites as AssignedSites
from .assign.balance.demand import Demand as Demand
from .assign.balance.pieces import Piece as Piece
from .assign.balance.pieces import cut_site as cut_site
from .assign.balance.trade import TradePoint as TradePoint
from .assign.balance.trade import trade_curve as trade_curve
from .assign.coordinate.coordinates import Coordinates as Coordinates
from .assign.coordinate.space import Space as Space
from .assign.overlay.overlay import Overlay as Overlay
from .edge.coordinator.agent_client import AgentAccess as AgentAccess
from .edge.hierarchy_file import Hierarchy as Hierarchy
from .errors import AddressError as AddressError
from .errors import AgentError as AgentError
from .errors import CapacityError as CapacityError
from .errors import CorruptHierarchyError as CorruptHierarchyError
from .errors import CorruptStateError as CorruptStateError
from .errors import DumpError as DumpError
from .errors import FetchError as FetchError
from .errors import HierarchyError as HierarchyError
from .errors import InputError as InputError
from .errors import IpmicraError as IpmicraError
from .errors import MessageError as MessageError
from .errors import MissingHierarchyError as MissingHierarchyError
from .errors import OverlayError as OverlayError
from .errors import StoreBusyError as StoreBusyError
from .errors import StoreError as StoreError
from .errors import TruncatedDumpError as TruncatedDumpError
from .errors import UnknownDialectError as UnknownDialectError
from .errors import UnknownVersionError as UnknownVersionError
from .errors import WorldError as WorldError
from .lab.evaluate.evaluate import EvaluateOptions as EvaluateOptions
from .lab.evaluate.evaluate import Evaluation as Evaluation
from .lab.evaluate.evaluate import evaluate as evaluate
from .locate.distance import DistanceSource as DistanceSource
from .locate.locator import Clues as Clues
from .locate.locator import Located as Located
from .locate.locator import Locator as Locator
from .model.assignment import Assignment as Assignment
from .model.crawler import Capacity as Capacity
from .model.crawler import Crawler as Crawler
from .model.crawler import CrawlerState as CrawlerState
from .model.delegation import Decision as Decision
from .model.delegation import Delegation as Delegation
from .model.delegation import Evidence as Evidence
from .model.delegation import Origin as Origin
from .model.edition import DumpRecord as DumpRecord
from .model.edition import Edition as Edition
from .model.finding import Fate as Fate
from .model.finding import Finding as Finding
from .model.finding import Reason as Reason
from .model.finding import Tally as Tally
from .model.location import Heuristic as Heuristic
from .model.location import Hint as Hint
from .model.location import Location as Location
from .model.organisation import HolderEvidence as HolderEvidence
from .model.organisation import Organisation as Organisation
from .model.probe import Probe as Probe
from .model.recrawl import Crawled as Crawled
from .model.recrawl import Recrawl as Recrawl
from .model.registry import Registry as Registry
from .model.sample import Loss as Loss
from .model.sample import Rung as Rung
from .model.sample import Sample as Sample
from .model.sample import Timings as Timings
from .model.site import Site as Site
from .model.subnet import Subnet as Subnet
from .partition.exchange.exchange import ExchangeConfig as ExchangeConfig
from .partition.exchange.exchange import UrlExchange as UrlExchange

__version__: str
__all__: list[str]
