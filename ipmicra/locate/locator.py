"""From clues to a location: all votes, what physics says of them, and the first that counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ipmicra.locate.chain import DEFAULT_ORDER, in_order, winner
from ipmicra.locate.config import LatencyConfig, LocateConfig, NameConfig
from ipmicra.locate.gazetteer import Gazetteer
from ipmicra.locate.hostname import HostName, RegisteredDomain, read_host_name
from ipmicra.locate.institution import InstitutionTable
from ipmicra.locate.known import KnownTable, read_geoloc
from ipmicra.locate.loc_record import LocRecord, loc_hint
from ipmicra.locate.names import NameReader
from ipmicra.locate.physics import Bound, RejectedVote, bounds_of, latency_hint, prove_anycast, reject_votes
from ipmicra.locate.registry import registry_hint
from ipmicra.model.address import Address
from ipmicra.model.location import Heuristic, Hint, Location
from ipmicra.model.sample import Sample
from ipmicra.model.subnet import Subnet


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """What is known of a target before it is located."""

    address: Address | None = None
    host_names: tuple[str, ...] = ()
    """As given, then those of the reverse zone."""
    loc_records: tuple[LocRecord, ...] = ()
    """The most specific first."""
    lineage: tuple[Subnet, ...] = ()
    """Subnets that hold the address, widest first."""
    neighbours: tuple[str | None, ...] = ()
    """Countries of subnets inside and beside the narrowest one."""
    samples: tuple[Sample, ...] = ()
    findings: tuple[str, ...] = ()
    """What went wrong while the clues were gathered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Where a target is, and why."""

    location: Location | None
    heuristic: Heuristic | None
    """Whose vote counts."""
    votes: tuple[Hint, ...] = ()
    """All that physics allows, in the order of the chain."""
    rejected: tuple[RejectedVote, ...] = ()
    """Votes that round trips rule out."""
    anycast: tuple[Bound, Bound] | None = None
    """Two round trips that no single place explains."""
    findings: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """Weight of the vote that counts: how often such votes were right, where that was measured; else 1.

        0 without a location.
        """
        return next((vote.weight for vote in self.votes if vote.heuristic is self.heuristic), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatorTables:
    """What the heuristics look into."""

    gazetteer: Gazetteer
    registered_domain: RegisteredDomain
    institutions: InstitutionTable = field(default_factory=InstitutionTable)
    known: KnownTable = field(default_factory=KnownTable)
    crawlers: Mapping[str, Location] = field(default_factory=dict)
    """Where crawlers are that took samples."""


class Locator:
    """Locates targets by the chain of heuristics; does no I/O."""

    def __init__(
        self,
        tables: LocatorTables,
        order: Sequence[Heuristic] = DEFAULT_ORDER,
        config: LocateConfig | None = None,
        names: NameConfig | None = None,
        latency: LatencyConfig | None = None,
    ) -> None:
        """Take the tables; `order` names the heuristics that are asked, first hit first."""
        self.tables = tables
        self.order = tuple(order)
        self._config = config or LocateConfig()
        self._latency = latency or LatencyConfig()
        self._names = NameReader(tables.gazetteer, names)

    def __repr__(self) -> str:
        """Return the heuristics in their order."""
        return f"<Locator {' > '.join(self.order)}>"

    def locate(self, clues: Clues) -> Located:
        """Locate one target."""
        findings = list(clues.findings)
        hints = in_order(self._votes(clues, findings), self.order)
        bounds = bounds_of(clues.samples, self.tables.crawlers)
        anycast = prove_anycast(bounds, self._latency)
        rejected: list[RejectedVote] = []
        if not anycast:
            hints, rejected = reject_votes(hints, bounds, self._latency)
            if Heuristic.LATENCY in self.order and (latency := latency_hint(bounds, self._latency)):
                hints = in_order([*hints, latency], self.order)
        best = winner(hints)
        return Located(
            location=best.location if best else None,
            heuristic=best.heuristic if best else None,
            votes=tuple(hints),
            rejected=tuple(rejected),
            anycast=anycast,
            findings=tuple(findings),
        )

    def locate_many(self, clues: Iterable[Clues]) -> list[Located]:
        """Locate many targets, in order."""
        return [self.locate(one) for one in clues]

    def places_many(self, clues: Iterable[Clues]) -> NDArray[np.float64]:
        """Return latitude, longitude and radius in kilometres, one row per target; NaN where unknown."""
        nowhere = (np.nan, np.nan, np.nan)
        rows = [
            (place.latitude, place.longitude, place.radius_km) if (place := located.location) else nowhere
            for located in self.locate_many(clues)
        ]
        return np.array(rows, np.float64).reshape(-1, 3)

    def name_hints(self, name: str, registered: str | None = None) -> list[Hint]:
        """Return the votes that a host name alone allows: airport, city and institution."""
        read = read_host_name(name, self.tables.registered_domain)
        return [] if isinstance(read, str) else self._of_name(read, registered)

    # --- votes

    def _votes(self, clues: Clues, findings: list[str]) -> list[Hint]:
        """Gather the votes of all heuristics but latency, at most one each."""
        names = self._read_names(clues.host_names, findings)
        registered = next((subnet.country for subnet in reversed(clues.lineage) if subnet.country), None)
        votes = [self._of_loc(clues.loc_records, findings)]
        for name in names:
            votes += self._of_name(name, registered)
        votes.append(self.tables.known.hint(clues.address, [name.text for name in names]))
        votes.append(self._of_geoloc(clues.lineage, findings))
        votes.append(registry_hint(clues.lineage, clues.neighbours, self.tables.gazetteer, self._config))
        first: dict[Heuristic, Hint] = {}
        for vote in votes:
            if vote:
                first.setdefault(vote.heuristic, vote)
        return list(first.values())

    def _read_names(self, names: Iterable[str], findings: list[str]) -> list[HostName]:
        read = []
        for name in dict.fromkeys(names):
            cut = read_host_name(name, self.tables.registered_domain)
            if isinstance(cut, str):
                findings.append(f"{_short(name)}: {cut}")
            else:
                findings += [f"{_short(name)}: {finding}" for finding in cut.findings]
                read.append(cut)
        return read

    def _of_name(self, name: HostName, registered: str | None) -> list[Hint]:
        institution = self.tables.institutions.hint(name)
        hints = self._names.hints(name, registered, institution.location if institution else None)
        return [*hints, institution] if institution else hints

    def _of_loc(self, records: Sequence[LocRecord], findings: list[str]) -> Hint | None:
        for record in records:
            if hint := loc_hint(record, self._config):
                return hint
            findings.append(f"the LOC record of {record.owner} is no place on Earth")
        return None

    def _of_geoloc(self, lineage: Sequence[Subnet], findings: list[str]) -> Hint | None:
        for subnet in reversed(lineage):
            if subnet.geoloc:
                location = read_geoloc(subnet.geoloc, self._config.registered_radius_km)
                if location:
                    evidence = f"geoloc `{subnet.geoloc}` of {subnet.label}"
                    return Hint(heuristic=Heuristic.KNOWN, location=location, evidence=evidence)
                findings.append(f"{subnet.label}: geoloc {subnet.geoloc!r} is no place")
        return None


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}..."  # noqa: PLR2004 - a line
