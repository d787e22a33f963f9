"""`ipmicra delegate`, from what the user named to results, a plan or a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.app.delegate.batch import Batch, BatchReport, Progress
from ipmicra.app.delegate.dry_run import Plan, plan_batch
from ipmicra.app.delegate.options import DelegateOptions
from ipmicra.app.home import Home
from ipmicra.edge.files.seeds import count_seeds, read_seeds, redacted
from ipmicra.model.delegation import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """One call of the command: seeds as the user named them, to be delegated with the fleet of a home."""

    home: Home
    words: list[str]
    options: DelegateOptions = field(default_factory=DelegateOptions)

    def count_seeds(self) -> int | None:
        """Count the seeds, about; None if they come from standard input."""
        return count_seeds(self.words)

    def plan(self, show: Callable[[int], object]) -> Plan:
        """Estimate the probes that the seeds need, and send none; `show` receives the seeds read so far."""
        with self.home.open_hierarchy() as hierarchy, self.home.open_store() as store:
            return plan_batch(store, hierarchy, self.options, read_seeds(self.words), show)

    def run(
        self,
        on_decision: Callable[[Decision], object],
        progress: Progress,
        page: Path | None,
        say: Callable[[str], object],
    ) -> BatchReport:
        """Delegate the seeds; a page on them is written at the end, also if that is an interrupt.

        `say` receives where it was written.
        """
        command = redacted("ipmicra delegate", *self.words)
        with (
            self.home.open_hierarchy() as hierarchy,
            self.home.lock("delegate", command),
            self.home.open_store() as store,
        ):
            batch = Batch(store, hierarchy, self.options, on_decision, progress)
            try:
                return batch.run(self.words, read_seeds(self.words))
            finally:
                if page is not None and batch.report.batch and store.results.count(batch.report.batch):
                    self._write_page(batch, page)
                    say(f"report: {page}")

    def _write_page(self, batch: Batch, page: Path) -> None:
        from ipmicra.app.report.loaders.holders import with_hierarchy
        from ipmicra.app.report.loaders.store import StoreContents
        from ipmicra.app.report.write import write_page

        data = StoreContents(store=batch.store, batch=batch.report.batch).load()
        command = f"ipmicra delegate {shlex.join(map(redacted, self.words))}"
        write_page(with_hierarchy(data, batch.hierarchy), page, command)
