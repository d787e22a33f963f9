"""Copy a world to addresses that follow geography: python -m benchmarks.geographic_world WORLD FOLDER.

The procedure of 2004 climbs a hierarchy of many levels, and the statistics that a real world is replayed with
have one. To see what the levels are worth, crawlers and sites keep their round trips and get new addresses:
the first 22 bits behind `10` are those of longitude and latitude in turn, so that each pair of bits halves
both, and the last octet counts. A dump in RIPE's form registers every square that holds hosts, from a quarter
of the Earth down to 0.2°; squares that hold just what a smaller one holds are left out. Of 11° × 6° on, each
has a holder, who also holds all inside, as a provider does. This is a hierarchy as good as registries could
make it, not one that they have.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

LEVELS = 11
HOLDER_LEVEL = 5
"""Level of the squares that have one holder with all inside: 11° × 6°."""
HEAD = 0b10 << 30


def square(latitude: float, longitude: float) -> int:
    """Return the first address of the smallest square around a point."""
    east = min(int((longitude + 180) / 360 * (1 << LEVELS)), (1 << LEVELS) - 1)
    north = min(int((latitude + 90) / 180 * (1 << LEVELS)), (1 << LEVELS) - 1)
    bits = 0
    for level in range(LEVELS - 1, -1, -1):
        bits = bits << 2 | (east >> level & 1) << 1 | north >> level & 1
    return HEAD | bits << 8


def squares(addresses: Iterable[IPv4Address]) -> Iterator[IPv4Network]:
    """Yield the squares that hold hosts, but none that holds just what a smaller one holds."""
    hosts: dict[IPv4Network, set[IPv4Address]] = defaultdict(set)
    for address in addresses:
        for level in range(1, LEVELS + 1):
            hosts[IPv4Network((address, 2 + 2 * level), strict=False)].add(address)
    for network, own in sorted(hosts.items()):
        if network.prefixlen == 2 + 2 * LEVELS or len(own) > max(
            len(hosts.get(part, ())) for part in network.subnets(2)
        ):
            yield network


def paragraph(network: IPv4Network) -> str:
    """Register a square."""
    holder = network.supernet(new_prefix=min(network.prefixlen, 2 + 2 * HOLDER_LEVEL))
    name = f"SQUARE-{int(holder.network_address) >> 8:X}-{holder.prefixlen}"
    return (
        f"inetnum:        {network[0]} - {network[-1]}\nnetname:        {name}\ndescr:          {name}\n"
        "country:        EU\nstatus:         ALLOCATED PA\nsource:         RIPE\n\n"
    )


def renumbered(path: Path, counts: Counter[int]) -> tuple[list[dict[str, str]], dict[str, str]]:
    """Read a list of hosts with places and return it with new addresses, and those by the old ones."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    new: dict[str, str] = {}
    for row in rows:
        start = square(float(row["latitude"]), float(row["longitude"]))
        counts[start] += 1
        old, row["address"] = row["address"], str(IPv4Address(start + counts[start]))
        new[old] = row["address"]
    return rows, new


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Write rows as a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    """Write the world and the dump."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.geographic_world", description=__doc__)
    parser.add_argument("world", type=Path, help="folder with crawlers.csv, sites.csv and rtt.csv")
    parser.add_argument("folder", type=Path, help="folder to write, with ripe.db.inetnum for `ipmicra build`")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[int] = Counter()
    crawlers, _ = renumbered(options.world / "crawlers.csv", counts)
    sites, new = renumbered(options.world / "sites.csv", counts)
    trips = list(csv.DictReader((options.world / "rtt.csv").read_text(encoding="utf-8").splitlines()))
    write(options.folder / "crawlers.csv", crawlers)
    write(options.folder / "sites.csv", sites)
    write(
        options.folder / "rtt.csv",
        [row | {"address": new[row["address"]]} for row in trips if row["address"] in new],
    )
    found = list(squares(IPv4Address(row["address"]) for row in [*crawlers, *sites]))
    dump = options.folder / "ripe.db.inetnum"
    dump.write_text("".join(map(paragraph, found)), encoding="utf-8")
    print(f"{dump}: {len(found)} subnets around {len(crawlers)} crawlers and {len(sites)} sites")


if __name__ == "__main__":
    main()
