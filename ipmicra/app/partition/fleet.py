"""Among whom sites are partitioned: crawlers of a file, a world or the home's fleet, or unnamed parts."""

from __future__ import annotations

from dataclasses import replace

from ipmicra.app.partition.options import PartitionInputs
from ipmicra.app.partition.stored import StoredKnowledge
from ipmicra.edge.files.crawlers import CrawlerRow, read_crawlers
from ipmicra.edge.files.worlds.records import WorldRecords
from ipmicra.errors import InputError
from ipmicra.partition.crawlers import CrawlerTable
from ipmicra.partition.methods.two_level import KeptTable

NO_FLEET = (
    "say among whom to divide: --parts N, --crawlers FILE or --world DIR; or let crawlers join your fleet "
    "with `ipmicra crawler add NAME ADDRESS`"
)


def uses_home(inputs: PartitionInputs) -> bool:
    """Return whether the home's fleet counts: nothing else names crawlers or asks for unnamed parts."""
    has_own_store = inputs.home is not None and inputs.home.named_store is not None
    is_floating = inputs.parts is not None and not has_own_store
    return inputs.home is not None and not (inputs.crawlers or inputs.world or is_floating)


def crawler_rows(
    inputs: PartitionInputs,
    world: WorldRecords | None,
    stored: StoredKnowledge | None,
    table: KeptTable | None,
    notes: list[str],
) -> list[CrawlerRow]:
    """Return the crawlers, after joins and leaves; those of a kept table if nothing else names any."""
    if inputs.parts is not None and inputs.parts < 1:
        raise InputError(f"{inputs.parts} parts make no sense: one at least")
    rows = _named(inputs, world, stored, table, notes)
    if inputs.parts and inputs.parts > len(rows):
        where = inputs.crawlers or inputs.world or "the fleet"
        raise InputError(f"{where} has {len(rows)} crawlers, fewer than {inputs.parts} parts")
    return _changed(rows[: inputs.parts], inputs)


def _named(
    inputs: PartitionInputs,
    world: WorldRecords | None,
    stored: StoredKnowledge | None,
    table: KeptTable | None,
    notes: list[str],
) -> list[CrawlerRow]:
    if inputs.crawlers or world is not None:
        rows = (
            read_crawlers(inputs.crawlers, notes.append)
            if inputs.crawlers
            else world.crawlers
            if world
            else []
        )
        if not rows:
            raise InputError(f"{inputs.crawlers or inputs.world}: there are no crawlers in it")
        return rows
    if stored is not None and (fleet := stored.fleet(notes)):
        return fleet
    if inputs.parts is not None:
        return [_row(name) for name in CrawlerTable.floating(inputs.parts).names]
    if table is not None:
        counts = table.table.capacity.tolist()
        return [replace(_row(name), share=share) for name, share in zip(table.names, counts, strict=True)]
    raise InputError(NO_FLEET)


def _changed(rows: list[CrawlerRow], inputs: PartitionInputs) -> list[CrawlerRow]:
    """Let crawlers join and leave by name."""
    names = [row.name for row in rows]
    unknown = [name for name in inputs.leaving if name not in names]
    if unknown:
        raise InputError(f"no crawler {', '.join(unknown)} can leave: there are {', '.join(names)}")
    known = [name for name in inputs.joining if name in names]
    if known:
        raise InputError(f"{', '.join(known)} cannot join: already in the fleet")
    mean = sum(row.share for row in rows) / max(len(rows), 1)
    stay = [row for row in rows if row.name not in inputs.leaving]
    rows = [*stay, *(replace(_row(name), share=mean) for name in dict.fromkeys(inputs.joining))]
    if not rows:
        raise InputError("the last crawler cannot leave")
    return rows


def _row(name: str) -> CrawlerRow:
    return CrawlerRow(where=name, name=name, address=None)
