"""Addresses, names and LOC records from the DNS: many questions at a time, each asked once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from ipmicra.errors import InputError
from ipmicra.locate.hostname import HostName
from ipmicra.locate.loc_record import LocRecord, questions
from ipmicra.model.address import Address, read_address

if TYPE_CHECKING:
    import dns.asyncresolver
    from dns.rdataset import Rdataset


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsConfig:
    """How the DNS is asked."""

    lifetime_s: float = 3.0
    """Seconds for one question, retries included."""
    concurrency: int = 64
    """Questions under way at a time."""
    batch: int = 5000
    """Targets that are worked on at a time: each costs memory."""
    failures_before_silence: int = 200
    """Questions without any answer, one after another, after which no more are asked."""


@dataclass(slots=True)
class DnsClues:
    """What the DNS told of one target."""

    addresses: list[Address] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Of the reverse zone."""
    loc_records: list[LocRecord] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


class LocationDns:
    """Asks for the clues of many targets; goes on when servers are silent or talk nonsense."""

    def __init__(
        self, resolver: dns.asyncresolver.Resolver | None = None, config: DnsConfig | None = None
    ) -> None:
        """Ask the given resolver, by default the system's."""
        self._config = config or DnsConfig()
        self._resolver = resolver
        self._answers: dict[tuple[str, str], asyncio.Task[tuple[Rdataset | None, str]]] = {}
        self._silent = 0
        self.asked = 0
        """Questions that went out."""

    def gather(
        self, targets: Sequence[tuple[HostName | None, Address | None]], *, with_loc: bool = True
    ) -> list[DnsClues]:
        """Ask for addresses of names, names of addresses, and LOC records."""
        return asyncio.run(self._gather(targets, with_loc=with_loc))

    async def _gather(
        self, targets: Sequence[tuple[HostName | None, Address | None]], *, with_loc: bool
    ) -> list[DnsClues]:
        import dns.asyncresolver
        import dns.exception

        if self._resolver is None:
            try:
                self._resolver = dns.asyncresolver.Resolver()
            except dns.exception.DNSException as error:
                raise InputError(f"the system names no DNS server ({error}); use --offline") from error
        self._answers.clear()
        self._slots = asyncio.Semaphore(self._config.concurrency)
        clues: list[DnsClues] = []
        for start in range(0, len(targets), self._config.batch):
            batch = targets[start : start + self._config.batch]
            clues += await asyncio.gather(*(self._clues(*target, with_loc=with_loc) for target in batch))
        return clues

    async def _clues(self, name: HostName | None, address: Address | None, *, with_loc: bool) -> DnsClues:
        clues = DnsClues()
        if address is None and name is not None:
            await self._find_addresses(name.text, clues)
            address = clues.addresses[0] if clues.addresses else None
        if address is not None:
            found = await self._ask(address.reverse_pointer, "PTR", clues.findings)
            clues.names += [
                str(record.target).rstrip(".").lower() for record in found if str(record.target) != "."
            ]
        if with_loc:
            await self._find_loc(name, address, clues)
        return clues

    async def _find_addresses(self, name: str, clues: DnsClues) -> None:
        for kind in ("A", "AAAA"):
            for record in await self._ask(name, kind, clues.findings):
                clues.addresses.append(read_address(str(ip_address(record.address))))
            if clues.addresses:
                return

    async def _find_loc(self, name: HostName | None, address: Address | None, clues: DnsClues) -> None:
        """Ask from the most specific name on, until one has a record."""
        for question in questions(name, address):
            owners = [question.name]
            if question.is_network:
                found = await self._ask(question.name, "PTR", clues.findings)
                owners = [str(record.target).rstrip(".").lower() for record in found]
            for owner in owners:
                for record in await self._ask(owner, "LOC", clues.findings):
                    clues.loc_records.append(_loc_record(owner, record, is_parent=question.is_parent))
                if clues.loc_records:
                    return

    async def _ask(self, name: str, kind: str, findings: list[str]) -> Iterable[Any]:
        """Ask once, whoever wants to know; what goes wrong is a finding."""
        key = (name, kind)
        if key not in self._answers:
            self._answers[key] = asyncio.ensure_future(self._query(name, kind))
        records, problem = await self._answers[key]
        if problem and problem not in findings:
            findings.append(problem)
        return records or ()

    async def _query(self, name: str, kind: str) -> tuple[Rdataset | None, str]:
        import dns.exception
        import dns.resolver

        assert self._resolver is not None  # noqa: S101 - set before the first question
        async with self._slots:
            if self._silent >= self._config.failures_before_silence:
                return None, "the DNS is silent; the rest was not asked"
            self.asked += 1
            try:
                answer = await self._resolver.resolve(
                    name, kind, lifetime=self._config.lifetime_s, search=False
                )
            except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
                self._silent = 0
                return None, ""
            except dns.exception.Timeout:
                self._silent += 1
                return None, f"{name}: no answer for {kind} in {self._config.lifetime_s:g} s"
            except (dns.exception.DNSException, OSError, ValueError) as error:
                return None, f"{name}: {kind} cannot be resolved: {_reason(error)}"
        self._silent = 0
        return answer.rrset, ""


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n")[0][:200]


def _loc_record(owner: str, record: Any, *, is_parent: bool) -> LocRecord:  # noqa: ANN401 - dnspython's record
    """Take over a record of dnspython, whose lengths are in centimetres."""
    return LocRecord(
        owner=owner,
        latitude=float(record.float_latitude),
        longitude=float(record.float_longitude),
        size_m=float(record.size) / 100,
        precision_m=float(record.horizontal_precision) / 100,
        is_parent=is_parent,
    )
