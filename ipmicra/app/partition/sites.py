"""Which sites are partitioned: what the user named, with all that files, the store and `locate` say of each.

Row i of `SiteRows` is site i everywhere: nothing may reorder or drop sites afterwards.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ipmicra.app.locate.locate import LocateOptions, LocateRun
from ipmicra.app.locate.sites import LocatedSites
from ipmicra.app.partition.options import PartitionInputs
from ipmicra.app.partition.stored import StoredKnowledge
from ipmicra.edge.dns import Resolver
from ipmicra.edge.dns.bulk import NO_SITE
from ipmicra.edge.dns.location import LocationDns
from ipmicra.edge.files.seeds import UnresolvedSeed, parse_seed, read_seeds
from ipmicra.edge.files.sites import SiteRows, has_site_header, read_sites, sites_of
from ipmicra.edge.files.worlds.records import WorldRecords
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.errors import InputError
from ipmicra.model.location import Hint, Location
from ipmicra.model.site import Site


def site_rows(
    inputs: PartitionInputs, world: WorldRecords | None, stored: StoredKnowledge | None, notes: list[str]
) -> tuple[SiteRows, int]:
    """Return the named sites with what files say about them; all of a file, or of the store, if none was.

    Also returns how many seeds are no sites.
    """
    path = inputs.sites
    words = list(inputs.seeds)
    tables = [word for word in words if _is_site_table(word)]
    if tables and path is None and world is None:
        path = Path(tables[0])
        words.remove(tables[0])
    known = (
        read_sites(path) if path else sites_of(record for _, record in world.sites) if world else SiteRows()
    )
    if not (words or path or world or stored is None):
        known = stored.sites()
    path = path or inputs.world
    if known.repeated:
        notes.append(f"{known.repeated:,} rows of {path} repeat a host or have none; the first one counts")
    if known.bad_values:
        notes.append(
            f"{known.bad_values:,} addresses, places or page counts of {path} make no sense: left out"
        )
    if not words:
        return known, 0
    return _named_sites(words, known, inputs, notes)


def _is_site_table(word: str) -> bool:
    """Return whether a word names a file that starts like a table of sites."""
    try:
        return "://" not in word and Path(word).is_file() and has_site_header(Path(word))
    except (OSError, ValueError):
        return False


def _named_sites(
    words: list[str], known: SiteRows, inputs: PartitionInputs, notes: list[str]
) -> tuple[SiteRows, int]:
    """Pick the named sites out of a table; add those that it does not have."""
    row_of = {host: row for row, host in enumerate(known.hosts)}
    row_of |= {str(one): row for row, one in reversed(list(enumerate(known.addresses))) if one is not None}
    resolver = Resolver()
    named = SiteRows()
    seen: set[str] = set()
    unusable = 0
    for seed in map(parse_seed, read_seeds(words)):
        if isinstance(seed, UnresolvedSeed) or seed.is_range:
            reason = seed.reason if isinstance(seed, UnresolvedSeed) else NO_SITE
            notes.append(f"{seed.text}: {reason}")
            unusable += 1
            continue
        if seed.host in seen:
            continue
        address = seed.address
        if address is None and inputs.resolve and seed.host not in row_of:
            try:
                address = resolver.addresses_of(seed.host)[0]
            except InputError as error:
                notes.append(f"{seed.text}: {error}")
                unusable += 1
                continue
        seen.add(seed.host)
        named.append(seed.host, address)
        if (row := row_of.get(seed.host)) is not None:
            named.copy(known, row)
    return named, unusable


def locate_rows(
    rows: SiteRows, inputs: PartitionInputs, hierarchy: Hierarchy | None, notes: list[str]
) -> None:
    """Locate the sites without a location by the heuristics of `ipmicra locate`; note who found how many.

    The DNS is asked (LOC records, reverse names) only where the user allows it, as for addresses.
    """
    open_rows = [row for row, north in enumerate(rows.latitude) if np.isnan(north)]
    hits: Counter[str] = Counter()
    for row, (place, heuristic) in zip(
        open_rows, _votes(rows, open_rows, inputs, hierarchy, notes), strict=True
    ):
        if place is not None:
            hits[heuristic] += 1
            rows.latitude[row], rows.longitude[row] = place.latitude, place.longitude
            rows.country[row] = rows.country[row] or place.country or ""
    if open_rows:
        by = ", ".join(f"{name} {count:,}" for name, count in hits.most_common())
        notes.append(f"located {hits.total():,} of {len(open_rows):,} sites" + (f": {by}" if by else ""))
        if hierarchy is None:
            notes.append("without a hierarchy registrations have no vote (build one: `ipmicra build DUMP…`)")


def _votes(
    rows: SiteRows,
    wanted: Sequence[int],
    inputs: PartitionInputs,
    hierarchy: Hierarchy | None,
    notes: list[str],
) -> list[tuple[Location | None, str]]:
    """Return the place and the heuristic that counts for each of some sites."""
    tables, geofeeds = inputs.place_tables, inputs.geofeeds
    located = LocatedSites(
        hierarchy, tables=tables, geofeeds=geofeeds, dns=LocationDns() if inputs.resolve else None
    )
    sites = {row: Site(rows.hosts[row], one) for row in wanted if (one := rows.addresses[row]) is not None}
    hints = dict(zip(sites, asyncio.run(located.hints_of(list(sites.values()))), strict=True))
    # Names without an address: the DNS was not to be asked, so only the name itself can vote.
    bare = [row for row in wanted if row not in sites]
    run = LocateRun(LocateOptions(is_offline=True, tables=tables, geofeeds=geofeeds), hierarchy)
    named = dict(zip(bare, run.locate([rows.hosts[row] for row in bare]), strict=True))
    notes += located.findings
    found: list[tuple[Location | None, str]] = []
    for row in wanted:
        if row in named:
            answer = named[row].located
            found.append((answer.location, str(answer.heuristic)))
        else:
            hint = hints[row]
            found.append((hint.location, str(hint.heuristic)) if isinstance(hint, Hint) else (None, ""))
    return found
