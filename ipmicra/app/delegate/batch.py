"""`ipmicra delegate`: lists of seeds, by the million; streamed, written as they come, resumable.

How it works
------------
A batch is one command, identified by its words and its setting (`batch_key`). The same command finds the
batch of an earlier run that did not end, and resumes it; so a crash needs no clean-up.

Seeds flow through in chunks. A chunk is resolved to sites, hosts that were seen before are dropped, results
of an earlier run are handed out again from the store, and the rest arrives at the driver. Reading waits
while `window` sites are pending, and hosts that were seen are remembered in a file: memory does not grow with
the list.

Three orders of events matter:

1. A decision is handed to the caller after it is in the store: a crash may repeat an answer, never lose one.
2. Addresses outside the hierarchy come last, one at a time: registries answer slowly, and nobody else should
   wait for them.
3. The batch ends after the caller has printed everything (`end`), because from then on the same command is
   a new batch with a new budget.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path

from ipmicra.app.delegate.dry_run import Plan, plan_batch
from ipmicra.app.delegate.options import EXAMPLES, DelegateOptions
from ipmicra.app.delegate.restoring import ALL_SILENT
from ipmicra.app.delegate.session import Session
from ipmicra.app.home import Home
from ipmicra.delegate.subnets import key_of
from ipmicra.edge.files.seeds import UnresolvedSeed, count_seeds, read_seeds, redacted
from ipmicra.edge.fingerprint_file import FingerprintFile
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.log import EventLog
from ipmicra.edge.rdap import RdapSource, RegistrationSource
from ipmicra.edge.store.lock import HeldLock
from ipmicra.edge.store.ports import BudgetState, StorePort
from ipmicra.model.delegation import Decision
from ipmicra.model.site import Site

events = EventLog("delegate")
CHUNK = 500
"""Sites that are looked for among the results of an earlier run, and arrive, at a time."""

FEW = 10_000
"""Hosts up to which a plain set remembers them."""


@dataclass(slots=True)
class BatchReport:
    """What came of a batch."""

    batch: int = 0
    sites: int = 0
    """Sites with an answer, those of earlier runs included."""
    resumed: int = 0
    """Those of earlier runs."""
    recovered: int = 0
    """Probes of an earlier run whose answers were asked for again."""
    probes: int = 0
    """Sent in this run."""
    repeated: int = 0
    """Answered from the store, for an earlier run had asked."""
    doubles: int = 0
    """Seeds that name a site that was there before."""
    missing: Counter[str] = field(default_factory=Counter)
    """Seeds without an answer, by reason."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """The first of them, with reasons."""
    stopped: str | None = None
    """Why not all seeds were read."""
    budget: BudgetState | None = None
    notes: list[str] = field(default_factory=list)

    def miss(self, text: str, reason: str) -> None:
        """Note a seed without an answer."""
        self.missing[reason] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append((text, reason))

    @property
    def is_complete(self) -> bool:
        """Whether each seed has an answer."""
        return not self.missing and self.stopped is None


Progress = Callable[[BatchReport, int], object]
"""Called now and then with the report so far and the number of seeds read."""


@dataclass(slots=True)
class Batch:
    """One command: seeds in, results out."""

    store: StorePort
    hierarchy: Hierarchy
    options: DelegateOptions
    on_decision: Callable[[Decision], object]
    """Called with each decision once it is written."""
    progress: Progress = lambda _report, _read: None
    registrations: RegistrationSource = field(default_factory=RdapSource)
    report: BatchReport = field(default_factory=BatchReport)
    is_ended_by_caller: bool = False
    """Whether the caller calls `end` when it has printed everything; until then the batch can be resumed."""
    _seen: set[str] = field(default_factory=set)
    """Hosts that were met."""
    _many_seen: FingerprintFile | None = None
    """The same for long lists, on disk."""
    _outside: list[Site] = field(default_factory=list)
    """Sites whose registration is to be asked for."""
    _read: int = 0
    _is_finished: bool = False

    def run(self, words: list[str], texts: Iterable[str]) -> BatchReport:
        """Delegate all seeds; `words` are how the user named them."""
        # Each write drops tens of thousands of objects, for which the garbage collector would look through
        # all that was ever loaded: a tenth of the time of a batch that asks nobody.
        gc.freeze()
        try:
            asyncio.run(self._run(words, texts))
        finally:
            gc.unfreeze()
            if self._many_seen is not None:
                self._many_seen.close()
        if not self.is_ended_by_caller:
            self.end()
        return self.report

    def end(self, lock: HeldLock | None = None) -> None:
        """End the batch if nothing is left to do: the same command begins a new one, with a new budget.

        So this comes last, when everything that the user is to see has been written. A process that is killed
        before leaves a batch that is resumed; one that were to end it earlier could be killed in between, and
        the same command would spend the budget again for answers that the user never got. A lock notes the
        ending until the process leaves by itself, so that one killed on its way out is resumed as well.
        """
        if self._is_finished:
            at_s = time.time()
            if lock is not None:
                lock.note_ending(self.report.batch, at_s)
            self.store.batches.end(self.report.batch, at_s)

    async def _run(self, words: list[str], texts: Iterable[str]) -> BatchReport:
        session = Session(
            self.store,
            self.hierarchy,
            self.options,
            lambda decision: self._decided(decision, session),
            self._gave_up,
            self.registrations,
            key=batch_key(words, self.options),
            words=redacted("delegate", *words).encode(errors="replace").decode(),
        )
        async with session:
            self.report.batch, self.report.resumed = session.batch.id, session.resumed
            self.report.recovered, self.report.notes = session.recovered, session.notes
            try:
                await self._take_in(session, texts)
                await self._graft(session)
                session.driver.flush()
                await session.until(lambda: not session.driver.pending or not session.driver.has_crawlers)
                await self._finish(session)
            finally:
                self.report.budget = self.store.budget.state(session.budget_name)
                self._log_end()
        return self.report

    def _log_end(self) -> None:
        events.info(
            "batch_ended",
            "batch {batch} ended: {sites} sites, {probes} probes, {missing} seeds without an answer",
            batch=self.report.batch,
            sites=self.report.sites,
            probes=self.report.probes,
            missing=self.report.missing.total(),
            stopped=self.report.stopped,
        )

    async def _take_in(self, session: Session, texts: Iterable[str]) -> None:
        async for part in session.parts(texts):
            for start in range(0, len(part), CHUNK):
                await self._arrive(session, self._new_sites(part[start : start + CHUNK]))
                if not await self._may_go_on(session):
                    return

    def _new_sites(self, part: list[Site | UnresolvedSeed]) -> list[Site]:
        """Count what was read; return the sites whose hosts were not met before."""
        sites: list[Site] = []
        for found in part:
            if isinstance(found, UnresolvedSeed):
                self.report.miss(found.text, found.reason)
            else:
                sites.append(found)
        marks = self._are_new([site.host for site in sites])
        self._read += len(part)
        self.report.doubles += len(sites) - sum(marks)
        return list(compress(sites, marks))

    def _are_new(self, hosts: list[str]) -> list[bool]:
        """Note hosts; return for each whether it was not met before."""
        if self._many_seen is not None:
            return self._many_seen.add_many(hosts)
        marks: list[bool] = []
        for host in hosts:
            marks.append(host not in self._seen)
            self._seen.add(host)
        if len(self._seen) >= FEW:
            self._many_seen = FingerprintFile()
            self._many_seen.add_many(list(self._seen))
            self._seen = set()
        return marks

    async def _arrive(self, session: Session, sites: list[Site]) -> None:
        known = (
            self.store.results.of(session.batch.id, [site.host for site in sites]) if session.resumed else {}
        )
        for site in sites:  # in their order, as they were printed before
            if site.host in known:
                self._decided(known[site.host], session)
        new = [one for one in sites if one.host not in known]
        if session.scattered is not None:
            new = session.scattered.take(new)
        if session.grafter is not None:
            self._outside += [one for one in new if key_of(session.tree, one.address) < 0]
            new = [one for one in new if key_of(session.tree, one.address) >= 0]
        session.driver.arrive(*new)
        self._show(session)
        await asyncio.sleep(0)

    async def _may_go_on(self, session: Session) -> bool:
        """Wait for room; return whether there is a crawler to continue with."""
        driver = session.driver
        await session.until(lambda: driver.has_room or not driver.has_crawlers)
        return await self._has_crawlers(session)

    async def _has_crawlers(self, session: Session) -> bool:
        if not session.driver.has_crawlers:
            await session.look_again()
        if not session.driver.has_crawlers:
            self.report.stopped = ALL_SILENT
        return session.driver.has_crawlers

    async def _graft(self, session: Session) -> None:
        """Ask the registries for addresses outside the hierarchy, last of all and one at a time."""
        for site in self._outside:
            if session.grafter is not None:
                trouble = await session.grafter.graft(site.address)
                if trouble:
                    self.report.notes.append(f"{site.host}: {trouble}; its slice of addresses stands in")
            session.driver.arrive(site)
            self._show(session)

    async def _finish(self, session: Session) -> None:
        driver = session.driver
        if driver.pending and await self._has_crawlers(session):
            await session.until(lambda: not driver.pending or not driver.has_crawlers)
        if not driver.has_crawlers:
            self.report.stopped = self.report.stopped or (ALL_SILENT if driver.pending else None)
            driver.abandon(ALL_SILENT)
            await session.until(lambda: not driver.pending)
        driver.flush()
        self.report.notes += _kept_answers(driver.machine.holdings.by_others, self.options.policy)
        if session.scattered is not None:
            self.report.notes += session.scattered.lines()
        if session.limits is not None:
            self.report.notes += session.limits.lines()
        self._show(session)
        self._is_finished = self.report.stopped is None and not driver.pending

    def _decided(self, decision: Decision, session: Session) -> None:
        self.report.sites += 1
        if session.limits is not None:
            session.limits.note(decision, session.driver.machine)
        self.on_decision(decision)

    def _gave_up(self, site: Site, reason: str) -> None:
        self.report.miss(site.host, reason)
        self.report.stopped = self.report.stopped or reason

    def _show(self, session: Session) -> None:
        counts = session.driver.probes.counts
        self.report.probes, self.report.repeated = counts.sent, counts.repeated
        self.progress(self.report, self._read)


def _kept_answers(by_others: Counter[str | None], policy: str) -> list[str]:
    """Report sites that were answered by what another policy had decided before."""
    if not by_others:
        return []
    names = ", ".join(name or "of an earlier version" for name in by_others)
    kept = f"{by_others.total():,} sites have the crawler that an earlier policy chose ({names})"
    return [f"{kept}: with --again {policy} decides them anew"]


def batch_key(words: list[str], options: DelegateOptions) -> str:
    """Return what the same command has in common: the seeds as they were named, and the setting."""
    named = [
        str(Path(word).absolute()) if "://" not in word and Path(word).is_file() else word for word in words
    ]
    return hashlib.sha256("\0".join([options.setting, *named]).encode(errors="replace")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegateRun:
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
            return plan_batch(store, hierarchy, self._with_rules(), read_seeds(self.words), show)

    @contextmanager
    def running(
        self,
        on_decision: Callable[[Decision], object],
        progress: Progress,
        page: Path | None,
        say: Callable[[str], object],
    ) -> Iterator[BatchReport]:
        """Delegate the seeds; the batch ends when the block is left without an error (see `Batch.end`).

        A page on them is written before, also after an interrupt; `say` receives where it was written.
        """
        command = redacted("ipmicra delegate", *self.words)
        with (
            self.home.open_hierarchy() as hierarchy,
            self.home.lock("delegate", command) as lock,
            self.home.open_store() as store,
        ):
            lock.protect(store)
            lock.settle(store.batches.reopen)
            batch = Batch(
                store, hierarchy, self._with_rules(), on_decision, progress, is_ended_by_caller=True
            )
            try:
                batch.run(self.words, read_seeds(self.words))
            finally:
                if page is not None and batch.report.batch and store.results.count(batch.report.batch):
                    self._write_page(batch, page)
                    say(f"report: {page}")
            yield batch.report
            batch.end(lock)

    def _with_rules(self) -> DelegateOptions:
        """Return the options with the home's rules, which are checked even if nothing is sent."""
        return replace(self.options, rules=self.options.rules or self.home.load_rules_if_any())

    def _write_page(self, batch: Batch, page: Path) -> None:
        from ipmicra.app.report.loaders.choose import load_whole
        from ipmicra.app.report.loaders.store import StoreContents
        from ipmicra.app.report.write import write_page

        data = load_whole(StoreContents(store=batch.store, batch=batch.report.batch), batch.hierarchy)
        command = f"ipmicra delegate {shlex.join(map(redacted, self.words))}"
        write_page(data, page, command)
