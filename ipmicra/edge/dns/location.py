"""Collect clues on locations from the DNS: addresses, reverse names and LOC records, each asked for once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ipmicra.edge.dns.one_by_one import REASONS
from ipmicra.errors import InputError
from ipmicra.locate.hostname import HostName
from ipmicra.locate.loc_record import LocRecord, questions
from ipmicra.model.address import Address

if TYPE_CHECKING:
    from ipmicra.edge.dns.client import DnsConfig
    from ipmicra.edge.dns.messages import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class CluesConfig:
    """How many questions are asked, and for how long."""

    first_timeout_s: float = 1.0
    tries: int = 2
    """A question is given up after 3 s: the second try has twice the time."""
    concurrency: int = 64
    """Questions in flight at a time."""
    batch: int = 5000
    """Targets that are worked on at a time: each costs memory."""
    failures_before_silence: int = 200
    """Consecutive questions without any answer, after which no more are asked."""


@dataclass(slots=True)
class DnsClues:
    """What the DNS knows of one target."""

    addresses: list[Address] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Of the reverse zone."""
    loc_records: list[LocRecord] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


class LocationDns:
    """Asks for the clues of many targets; continues when servers are silent or send nonsense."""

    def __init__(self, config: CluesConfig | None = None, servers: tuple[tuple[str, int], ...] = ()) -> None:
        """Ask the given servers (address and port), by default the system's."""
        self._config = config or CluesConfig()
        self._servers = servers
        self._answers: dict[tuple[str, str], asyncio.Task[tuple[Reply | None, str]]] = {}
        self._silent = 0
        self.asked = 0
        """Questions that were sent."""

    def gather(
        self, targets: Sequence[tuple[HostName | None, Address | None]], *, with_loc: bool = True
    ) -> list[DnsClues]:
        """Ask for addresses of names, names of addresses, and LOC records."""
        try:
            return asyncio.run(self.clues_of(targets, with_loc=with_loc))
        except InputError as error:
            raise InputError(f"{error}; use --offline") from error

    async def clues_of(
        self, targets: Sequence[tuple[HostName | None, Address | None]], *, with_loc: bool = True
    ) -> list[DnsClues]:
        """Ask as `gather` does, inside a loop; one call at a time."""
        from ipmicra.edge.dns.client import DnsClient  # dnspython loads slowly, and not everybody asks

        self._answers.clear()
        self._slots = asyncio.Semaphore(self._config.concurrency)
        clues: list[DnsClues] = []
        async with DnsClient(self._client_config()) as self._client:
            for start in range(0, len(targets), self._config.batch):
                batch = targets[start : start + self._config.batch]
                found = (self._clues(*target, with_loc=with_loc) for target in batch)
                clues += await asyncio.gather(*found)
        return clues

    def _client_config(self) -> DnsConfig:
        from ipmicra.edge.dns.client import DnsConfig

        return DnsConfig(
            servers=self._servers,
            first_timeout_s=self._config.first_timeout_s,
            tries=self._config.tries,
            in_flight=self._config.concurrency,
        )

    async def _clues(self, name: HostName | None, address: Address | None, *, with_loc: bool) -> DnsClues:
        clues = DnsClues()
        if address is None and name is not None:
            await self._find_addresses(name.text, clues)
            address = clues.addresses[0] if clues.addresses else None
        if address is not None:
            clues.names += await self._names_at(address.reverse_pointer, clues)
        if with_loc:
            await self._find_loc(name, address, clues)
        return clues

    async def _find_addresses(self, name: str, clues: DnsClues) -> None:
        for kind in ("A", "AAAA"):
            found = await self._ask(name, kind, clues.findings)
            if found is not None and found.addresses:
                clues.addresses += found.addresses
                return

    async def _names_at(self, owner: str, clues: DnsClues) -> list[str]:
        found = await self._ask(owner, "PTR", clues.findings)
        records: tuple[Any, ...] = found.records if found is not None else ()
        names = [str(record.target).rstrip(".").lower() for record in records]
        return [name for name in names if name]

    async def _find_loc(self, name: HostName | None, address: Address | None, clues: DnsClues) -> None:
        """Ask from the most specific name on, until one has a record."""
        for question in questions(name, address):
            owners = [question.name]
            if question.is_network:
                owners = await self._names_at(question.name, clues)
            for owner in owners:
                found = await self._ask(owner, "LOC", clues.findings)
                for record in found.records if found is not None else ():
                    clues.loc_records.append(_loc_record(owner, record, is_parent=question.is_parent))
                if clues.loc_records:
                    return

    async def _ask(self, name: str, kind: str, findings: list[str]) -> Reply | None:
        """Ask once, however many targets need the answer; what goes wrong is a finding."""
        key = (name, kind)
        if key not in self._answers:
            self._answers[key] = asyncio.ensure_future(self._query(name, kind))
        reply, problem = await self._answers[key]
        if problem and problem not in findings:
            findings.append(problem)
        return reply

    async def _query(self, name: str, kind: str) -> tuple[Reply | None, str]:
        from dns.rdatatype import RdataType

        # The client has slots of its own; these are needed so that the question below is put in turn:
        # all questions of a batch exist at once, and those that wait must learn of the silence.
        async with self._slots:
            if self._silent >= self._config.failures_before_silence:
                return None, "the DNS is silent; the rest was not asked"
            self.asked += 1
            reply = await self._client.query(name, RdataType[kind])
        status = reply.status.value
        self._silent = self._silent + 1 if status == "timeout" else 0
        if status == "timeout":
            return None, f"{name}: no answer for {kind} in time"
        if status in {"found", "nxdomain", "no-address"}:
            return reply, ""
        return None, f"{name}: {kind}: {REASONS[status]}"


def _loc_record(owner: str, record: Any, *, is_parent: bool) -> LocRecord:  # noqa: ANN401 - dnspython's record
    """Convert a record of dnspython, whose lengths are in centimetres."""
    return LocRecord(
        owner=owner,
        latitude=float(record.float_latitude),
        longitude=float(record.float_longitude),
        size_m=float(record.size) / 100,
        precision_m=float(record.horizontal_precision) / 100,
        is_parent=is_parent,
    )
