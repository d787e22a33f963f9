"""What a user asks for, and every number of the driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ipmicra.delegate.config import TAUGHT_SAMPLES, DelegatorConfig, PaperConfig
from ipmicra.delegate.policies.registry import POLICIES, WITHOUT_PROBES, policy_variants, weigh_pages
from ipmicra.delegate.ports import Policy
from ipmicra.edge.coordinator.agent_client import AgentAccess
from ipmicra.edge.coordinator.orders import DeskConfig
from ipmicra.edge.dns.client import DnsConfig
from ipmicra.edge.files.pages import read_pages
from ipmicra.edge.geodata.countries import CountrySettlements
from ipmicra.errors import InputError

if TYPE_CHECKING:
    from ipmicra.assign.rules.rules import Rules

EXAMPLES = 20
"""Missing seeds that are named; all are counted."""
LOCATE, DNS, NOWHERE = "locate", "dns", "none"
"""Words for `--location`; anything else is a file."""
HERE, AGENTS = "here", "agents"
"""Words for `--resolve-at`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivingConfig:
    """How much is under way at a time."""

    window: int = 20_000
    """Sites that wait for an answer at a time; about 20 MB."""
    per_parent: int = 2
    """Subnets of one parent that are probed for at a time: what a sibling teaches may save a probe."""
    per_agent: int = 500
    """Orders at one agent at a time; an agent takes twenty thousand."""
    belief_bytes: int = 1 << 28
    """Memory for what is believed of the subnets that are being decided; the others wait. With 100 crawlers
    2,700 subnets fit, with 1,000 crawlers 270."""
    least_open: int = 16
    """Subnets that are decided at a time, however much memory they take."""
    flush_s: float = 0.2
    """How long an answer may wait for others before all are written: a commit takes milliseconds."""
    flush_rows: int = 40_000
    """Rows that are written at the latest; the more at a time, the fewer pages are written twice."""
    flush_share: float = 0.1
    """Share of the time that may go into writing before `flush_s` is extended."""
    gather_s: float = 0.005
    """How long a probe may wait for others that go to the same agent in one request."""
    health_s: float = 5.0
    """Time between two looks after agents that fell silent."""
    taught: int = TAUGHT_SAMPLES
    """Samples of earlier runs, the newest, from which a policy learns at the start."""
    explained: int = 3
    """Crawlers not asked that are kept for each subnet, the highest expected savings first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateOptions:
    """What a user wants."""

    policy: str = "predict"
    threshold_ms: float = 50.0
    """For `paper`."""
    probe_price_ms: float | None = None
    """For `predict`: a fixed price; None for the default setting."""
    pages: Path | None = None
    """For `predict`: CSV of host,pages; the more pages a site has, the less a probe of it costs."""
    nearest: int = 2
    """For `geo`."""
    reconsiders: bool = True
    """For `paper`: crawlers that join later probe the subnets that others hold."""
    beyond_organisation: bool = False
    """For `paper`: climb on when no crawler of the organisation is under the threshold."""
    recheck_percent: float = 100 * DelegatorConfig().recheck_share
    """Percentage of the subnets in use that are measured again in 30 days; 0 for none."""
    again: bool = False
    """Decide subnets anew that somebody holds, each once in a batch."""
    probe_budget: int | None = None
    """Probes that may be sent for a batch in all; None for no limit."""
    location: str = LOCATE
    """`locate`, `dns`, `none`, or a CSV with the places of sites."""
    tables: tuple[Path, ...] = ()
    """For `locate` and `dns`: CSVs of known places."""
    geofeeds: tuple[Path, ...] = ()
    """For `locate` and `dns`: geofeeds (RFC 8805)."""
    anycast: Path | None = None
    """List of prefixes that are in many places."""
    grafts: bool = False
    """Ask the registries for addresses that the hierarchy lacks."""
    resolve_at: str = HERE
    """`here` asks the DNS of this machine, `agents` that of each crawler: names may answer differently."""
    near_ms: float = 10.0
    """A site that crawlers see at different addresses is near everywhere if their round trips differ by no
    more than this: about what two places in one country differ by."""
    rules: Rules | None = None
    """Who may own which sites; None for no rules."""
    desk: DeskConfig = field(default_factory=DeskConfig)
    access: AgentAccess = field(default_factory=AgentAccess)
    dns: DnsConfig = field(default_factory=DnsConfig)
    driving: DrivingConfig = field(default_factory=DrivingConfig)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.policy not in POLICIES:
            raise InputError(f"no policy {self.policy!r}: there are {', '.join(POLICIES)}")
        if self.threshold_ms <= 0 or (self.probe_price_ms is not None and self.probe_price_ms <= 0):
            raise InputError("thresholds and prices are milliseconds above 0")
        if not 0 <= self.recheck_percent < inf:
            raise InputError(f"--recheck {self.recheck_percent} is no percentage; 0 measures nothing again")
        self._check_resolving()
        if self.probe_budget is not None and self.probe_budget >= 1 << 63:
            raise InputError(
                f"a probe budget of {self.probe_budget} cannot be stored: leave it out for no limit"
            )
        if self.probe_budget is not None and self.probe_budget < 0:
            raise InputError(f"a probe budget of {self.probe_budget} is below zero")
        if (self.tables or self.geofeeds) and self.location not in {LOCATE, DNS}:
            raise InputError(
                f"--table and --geofeed add to --location {LOCATE} or {DNS}, not to {self.location}"
            )

    def _check_resolving(self) -> None:
        if self.resolve_at not in {HERE, AGENTS}:
            raise InputError(f"--resolve-at {self.resolve_at}: names are resolved {HERE} or at {AGENTS}")
        if self.resolve_at == AGENTS and not self.needs_agents:
            raise InputError(f"policy {self.policy} asks nobody, so --resolve-at {AGENTS} has no use for it")
        if not 0 <= self.near_ms < inf:
            raise InputError("--near-ms is a number of milliseconds, 0 or more")

    @property
    def setting(self) -> str:
        """What makes a batch another one: the policy with its numbers."""
        numbers = (self.threshold_ms, self.probe_price_ms, self.nearest)
        known = [str(path.absolute()) for path in (*self.tables, *self.geofeeds)]
        flags = {"again": self.again, "beyond": self.beyond_organisation}
        wanted = [word for word, is_set in flags.items() if is_set]
        resolving = [] if self.resolve_at == HERE else [self.resolve_at, str(self.near_ms)]
        words = [*map(str, numbers), self.location, *known, *wanted, *resolving]
        return f"{self.policy} {' '.join(words)}"

    def delegator_config(self, begun_s: float) -> DelegatorConfig:
        """Return the rules of the machine for a batch that was begun at a time."""
        return DelegatorConfig(
            recheck_share=self.recheck_percent / 100, again_before_s=begun_s if self.again else None
        )

    @property
    def needs_agents(self) -> bool:
        """Whether crawlers without an agent are of no use."""
        return self.policy not in WITHOUT_PROBES

    def make_policy(self) -> Policy:
        """Make the policy; the one by chance always draws the same."""
        prices = () if self.probe_price_ms is None else (self.probe_price_ms,)
        one, *_ = policy_variants(
            [self.policy],
            thresholds_ms=[self.threshold_ms],
            prices_ms=prices,
            nearest=[self.nearest],
            paper=[PaperConfig(reconsiders=self.reconsiders, beyond_organisation=self.beyond_organisation)],
            settlements=CountrySettlements(),
        )
        made = one.make(np.random.default_rng(0))
        if self.pages is not None:
            weigh_pages(made, read_pages(self.pages))
        return made
