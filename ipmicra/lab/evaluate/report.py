"""Reports from a replay: what a policy makes of a world, beside the true round trips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ipmicra.app.report.data import Flag, ReportCrawler, ReportData, ReportSite
from ipmicra.delegate.policies.registry import PolicyVariant
from ipmicra.delegate.replay.quality import SiteOutcome
from ipmicra.lab.evaluate.comparison import Comparison
from ipmicra.lab.evaluate.inputs import WorldSource, pages_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedWorld:
    """A world whose sites arrive in its own order and are delegated by a policy that starts from nothing."""

    comparison: Comparison
    variant: PolicyVariant
    folder: Path | None = None
    """Where the world is from, for the pages of its sites."""

    def load(self) -> ReportData:
        """Replay the policy."""
        comparison, world = self.comparison, self.comparison.world
        policy = self.variant.make(np.random.default_rng(0))
        outcomes = comparison.replay(policy).run(range(len(world.sites)))
        name = f"{self.variant.policy} {self.variant.setting}".replace(" default", "").strip()
        return ReportData(
            crawlers=tuple(
                ReportCrawler(name=one.name, address=one.address, place=one.location)
                for one in world.crawlers
            ),
            sites=tuple(self._sites(outcomes)),
            title=f"What {name} makes of {world.name}",
            policy=name,
            true_rtt_ms=world.rtt_ms.astype(float),
            notes=("A replay: sites arrived in the order of the world, probes were answered from it.",),
        )

    def _sites(self, outcomes: list[SiteOutcome]) -> Iterator[ReportSite]:
        world = self.comparison.world
        pages = pages_of(WorldSource(world=self.folder)) if self.folder else {}
        numbers = {crawler.name: i for i, crawler in enumerate(world.crawlers)}
        is_silent = np.isnan(world.nearest_ms())
        for one in outcomes:
            site = world.sites[one.site]
            crawler = None if one.crawler is None else numbers[one.crawler]
            rtt_ms = np.nan if crawler is None else float(world.rtt_ms[crawler, one.site])
            yield ReportSite(
                host=site.host,
                address=site.address,
                country=world.countries[one.site],
                place=world.places[one.site],
                crawler=crawler,
                rtt_ms=None if np.isnan(rtt_ms) else rtt_ms,
                probes=one.probes,
                pages=pages.get(site.host),
                flag=Flag.UNPROBEABLE if is_silent[one.site] else None,
            )
