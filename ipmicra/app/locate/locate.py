"""Locating targets: clues from DNS, hierarchy, tables and samples; the answers as records.

Theory of operation
-------------------
`Locator` (the core) decides; it receives all clues about a target at once and does no I/O. `LocateRun`
gathers them, in an order that keeps the waiting short:

1. Tables, geofeeds, samples and crawlers that the user named are read once, when the run is made.
2. `locate` reads all targets before it asks anything. What is no target keeps its reason and its place in
   the list, so answers come in the order of the questions.
3. The DNS is asked for all targets together, many questions in flight (`edge/dns/location.py`). A name gets
   its address here, an address its names.
4. Only then is each target located by itself: its lineage is looked up, geofeeds that the lineage names are
   fetched if the user wants that, and the locator votes.

A geofeed is read once for each subnet that names it, and each time only prefixes inside that subnet are
taken: a holder can speak for its own addresses and for no others. One that cannot be fetched is a finding
and is not tried again in this run. Countries of neighbouring subnets are remembered by row, since the
targets of a list often share a subnet; they are not asked for where the parent has very many descendants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ipmicra.app.lookup.lookup import lineage_of
from ipmicra.edge.dns.location import DnsClues, LocationDns
from ipmicra.edge.files.lines import name_of, open_lines
from ipmicra.edge.files.locations import fetch_feed, read_crawler_places, read_samples
from ipmicra.edge.files.seeds import Seed, UnresolvedSeed, parse_seed, read_seeds
from ipmicra.edge.geodata.places import load_gazetteer, load_institutions, load_registered_domain
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import FetchError, InputError
from ipmicra.locate.chain import DEFAULT_ORDER, read_order
from ipmicra.locate.config import LocateConfig
from ipmicra.locate.hostname import HostName, read_host_name
from ipmicra.locate.known import KnownTable, read_geofeed, read_table
from ipmicra.locate.locator import Clues, Located, Locator, LocatorTables
from ipmicra.model.address import Address
from ipmicra.model.location import Heuristic, Location
from ipmicra.model.sample import Sample
from ipmicra.model.subnet import Subnet

LARGEST_FAMILY = 100_000
"""Descendants of a parent above which its children are not asked for their country."""
MOST_REMEMBERED = 100_000
"""Subnets whose neighbours are remembered."""


def order_of(text: str | None) -> tuple[Heuristic, ...]:
    """Read which heuristics vote, in which order, as in `loc,airport,registry`; None for the default."""
    return DEFAULT_ORDER if text is None else read_order(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocateOptions:
    """What the user asks for."""

    is_offline: bool = False
    """Ask no DNS server and fetch nothing."""
    order: tuple[Heuristic, ...] = DEFAULT_ORDER
    tables: tuple[Path, ...] = ()
    geofeeds: tuple[Path, ...] = ()
    fetches_geofeeds: bool = False
    """Fetch the geofeeds that registrations of the targets name."""
    samples: Path | None = None
    crawlers: Path | None = None
    truth: Path | None = None
    """True places of targets, in the format of `tables`; they have no vote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedTarget:
    """One target of the user with its location."""

    text: str
    """As the user wrote it."""
    address: str | None
    located: Located
    truth: Location | None = None
    """Its true place, if the user knows it."""


@dataclass(slots=True)
class _Asked:
    """A target while its clues are gathered."""

    text: str
    name: HostName | None = None
    seed: Seed | None = None
    """With its address, once that is known."""
    problem: str = ""
    dns: DnsClues = field(default_factory=DnsClues)

    @property
    def address(self) -> Address | None:
        """The address, or the first of a range or of a name's several."""
        return self.seed.first if self.seed else None


def site_name(host: str, address: Address) -> HostName | None:
    """Read the host name of a site; None if it has none, or one that tells nothing."""
    name = read_host_name(host, load_registered_domain()) if host != str(address) else ""
    return None if isinstance(name, str) else name


class LocateRun:
    """Locates lists of targets; tables are loaded once, geofeeds and neighbours are remembered."""

    def __init__(
        self, options: LocateOptions, hierarchy: Hierarchy | None = None, dns: LocationDns | None = None
    ) -> None:
        """Load what the options name; tables with bad rows leave findings."""
        self.findings: list[str] = []
        self._options = options
        self._hierarchy = hierarchy
        self._dns = dns or LocationDns()
        self._samples = self._read_samples()
        self._neighbours: dict[int, tuple[str | None, ...]] = {}
        self._feeds: set[tuple[str, str]] = set()
        self._truth = self._read_truth()
        self.locator = Locator(self._tables(), options.order)

    def _tables(self) -> LocatorTables:
        known = KnownTable()
        own: dict[str, Location] = {}
        for path in self._options.tables:
            with open_lines(path) as lines:
                texts = (line for _, line in lines)
                own |= read_table(known, texts, name_of(path), LocateConfig().known_radius_km)
        gazetteer = load_gazetteer()
        for path in self._options.geofeeds:
            with open_lines(path) as lines:
                read_geofeed(known, (line for _, line in lines), name_of(path), gazetteer)
        self._take_findings(known)
        crawlers = (
            read_crawler_places(self._options.crawlers, self.findings) if self._options.crawlers else {}
        )
        return LocatorTables(
            gazetteer=gazetteer,
            registered_domain=load_registered_domain(),
            institutions=load_institutions().updated(own),
            known=known,
            crawlers=crawlers,
        )

    def _read_truth(self) -> KnownTable:
        table, radius_km = KnownTable(), LocateConfig().known_radius_km
        if path := self._options.truth:
            with open_lines(path) as lines:
                domains = read_table(table, (line for _, line in lines), name_of(path), radius_km)
            table.findings += [
                f".{domain}: the true place of a whole domain is not used" for domain in domains
            ]
        self._take_findings(table)
        return table

    def _read_samples(self) -> dict[Address, list[Sample]]:
        if bool(self._options.samples) != bool(self._options.crawlers):
            raise InputError("--samples and --crawlers go together: round trips need to know from where")
        by_address: dict[Address, list[Sample]] = defaultdict(list)
        for sample in read_samples(self._options.samples, self.findings) if self._options.samples else ():
            by_address[sample.address].append(sample)
        return by_address

    @property
    def deciding_hierarchy(self) -> Hierarchy | None:
        """The hierarchy, if nothing but its subnet tells where an address is; None if more is known."""
        options = self._options
        knows_more = not options.is_offline or options.tables or options.geofeeds or options.samples
        return None if knows_more else self._hierarchy

    def locate(self, words: Iterable[str]) -> list[LocatedTarget]:
        """Locate all targets, in order."""
        return self.locate_texts(read_seeds(list(words)))

    def locate_texts(self, texts: Iterable[str]) -> list[LocatedTarget]:
        """Locate texts, in order, none of which is taken for the name of a file."""
        asked = [self._read(text) for text in texts]
        self._ask_dns([one for one in asked if not one.problem])
        located = [self._locate(one) for one in asked]
        self._take_findings(self.locator.tables.known)
        return located

    def _take_findings(self, known: KnownTable) -> None:
        self.findings += known.findings
        known.findings.clear()

    def locate_site(self, host: str, address: Address, dns: DnsClues | None = None) -> Located:
        """Locate a site whose address is known; the DNS is not asked, but what it said may be given."""
        name = site_name(host, address)
        asked = _Asked(host, name, Seed(text=host, host=host).at(address), dns=dns or DnsClues())
        return self._locate(asked).located

    def _read(self, text: str) -> _Asked:
        """Read a target: address, prefix, range, URL or host name."""
        seed = parse_seed(text)
        if isinstance(seed, UnresolvedSeed):
            reason = read_host_name(seed.text, load_registered_domain())  # more precise, if it is one
            return _Asked(seed.text, problem=reason if isinstance(reason, str) else seed.reason)
        if seed.first is not None:
            return _Asked(seed.text, seed=seed)
        name = read_host_name(seed.host, load_registered_domain())
        return _Asked(seed.text, problem=name) if isinstance(name, str) else _Asked(seed.text, name=name)

    def _ask_dns(self, asked: list[_Asked]) -> None:
        if self._options.is_offline or not asked:
            return
        with_loc = Heuristic.LOC in self._options.order
        pairs = [(one.name, one.address) for one in asked]
        for one, clues in zip(asked, self._dns.gather(pairs, with_loc=with_loc), strict=True):
            one.dns = clues
            if clues.addresses:
                one.seed = Seed(text=one.text, host=one.text).at(clues.addresses[0])

    def _locate(self, asked: _Asked) -> LocatedTarget:
        if asked.problem:
            nowhere = Located(location=None, heuristic=None, findings=(asked.problem,))
            return LocatedTarget(text=asked.text, address=None, located=nowhere)
        seed, lineage = asked.seed, tuple[Subnet, ...]()
        if self._hierarchy and seed and seed.first and seed.last:
            lineage = tuple(lineage_of(self._hierarchy, seed.first, seed.last))
        self._fetch_feeds(lineage)
        names = [asked.name.text] if asked.name else []
        clues = Clues(
            address=asked.address,
            host_names=(*names, *asked.dns.names),
            loc_records=tuple(asked.dns.loc_records),
            lineage=lineage,
            neighbours=self._around(lineage),
            samples=tuple(self._samples.get(asked.address, ())) if asked.address else (),
            findings=tuple(asked.dns.findings),
        )
        truth = self._truth.hint(asked.address, names)
        return LocatedTarget(
            text=asked.text,
            address=seed.range_text if seed else None,
            located=self.locator.locate(clues),
            truth=truth.location if truth else None,
        )

    def _around(self, lineage: Sequence[Subnet]) -> tuple[str | None, ...]:
        """Return the countries of some subnets inside and beside the narrowest one."""
        if not lineage or not self._hierarchy:
            return ()
        row, hierarchy = lineage[-1].row, self._hierarchy
        if row not in self._neighbours:
            if len(self._neighbours) >= MOST_REMEMBERED:
                self._neighbours.clear()
            parent = hierarchy.parent(row)
            rows = list(hierarchy.descendants(row)[: LocateConfig().neighbours])
            if parent is not None and len(hierarchy.descendants(parent)) <= LARGEST_FAMILY:
                rows += hierarchy.siblings(row)[: LocateConfig().neighbours - len(rows)].tolist()
            self._neighbours[row] = _countries(hierarchy, rows)
        return self._neighbours[row]

    def _fetch_feeds(self, lineage: Sequence[Subnet]) -> None:
        """Fetch the geofeeds that a lineage names, each once for each subnet that names it."""
        if not self._options.fetches_geofeeds or self._options.is_offline:
            return
        for subnet in lineage:
            if subnet.geofeed and (subnet.geofeed, subnet.label) not in self._feeds:
                self._feeds.add((subnet.geofeed, subnet.label))
                try:
                    lines = fetch_feed(subnet.geofeed)
                except FetchError as error:
                    self.findings.append(str(error))
                    continue
                tables = self.locator.tables
                read_geofeed(
                    tables.known, lines, subnet.geofeed, tables.gazetteer, (subnet.first, subnet.last)
                )


def _countries(hierarchy: Hierarchy, rows: list[int]) -> tuple[str | None, ...]:
    """Return the countries of rows; to read whole subnets for them takes a hundred times as long."""
    texts = hierarchy.row_texts
    numbers = texts.numbers("country", rows).tolist() if rows else []
    by_number = {number: texts.text("country", number) for number in set(numbers)}
    return tuple(by_number[number] for number in numbers)
