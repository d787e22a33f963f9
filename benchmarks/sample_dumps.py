"""Write the sample dumps in `rir_dumps/sample`: small, invented, one or more in each dialect.

The bulk is drawn from a seed; the hand-written hard cases of `sample_hard_cases.py` stand in between. The
same seed and number of members give the same dumps. Names are invented; each member has its seat in a real
city, so that places and distances make sense.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gzip
import io
import ipaddress
import random
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import benchmarks.sample_hard_cases as hard
from benchmarks.sample_dialects import (
    Member,
    Subnet,
    afrinic_organisation,
    afrinic_registration,
    apnic_registration,
    arin_organisation,
    arin_registration,
    lacnic_registration,
    ripe_organisation,
    ripe_registration,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE = Path(__file__).resolve().parent.parent / "rir_dumps" / "sample"
SEED = 20260131
MEMBERS = MOST_MEMBERS = 30
"""More members of one registry would run into the ranges of the hard cases."""

STEMS = "Zorvane Quillo Brentari Mulvex Ostrelle Tandrig Velluno Yarrowex Pindalo Kestrova Lumbrey".split()
KINDS = "Networks Telecom Hosting Broadband University Bank Carrier Media Logistics Hospital".split()
CUSTOMERS = "office shop-floor campus server-room branch laboratory library warehouse pop-2 dsl-pool".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where a registry hands out addresses in this sample, and to whom."""

    label: str
    pools: tuple[str, ...]
    """First addresses of its prefixes of 8 bits."""
    pool6: str
    seats: tuple[str, ...]
    """Cities of its members, each with its country: `Athens GR`."""


REGIONS = {
    "ripe": Region(
        label="RIPE",
        pools=("62.0.0.0", "80.0.0.0", "193.0.0.0"),
        pool6="2a00::",
        seats=(
            "Frankfurt DE",
            "Köln DE",
            "Athens GR",
            "Thessaloniki GR",
            "Stockholm SE",
            "Göteborg SE",
            "Warsaw PL",
            "Paris FR",
            "Orléans FR",
            "Madrid ES",
            "Istanbul TR",
            "Dubai AE",
        ),
    ),
    "apnic": Region(
        label="APNIC",
        pools=("60.0.0.0", "202.0.0.0"),
        pool6="2400::",
        seats=(
            "Sydney AU",
            "Perth AU",
            "Tōkyō JP",
            "Osaka JP",
            "Seoul KR",
            "Busan KR",
            "Mumbai IN",
            "Chennai IN",
            "Auckland NZ",
            "Singapore SG",
            "Jakarta ID",
        ),
    ),
    "afrinic": Region(
        label="AFRINIC",
        pools=("41.0.0.0", "105.0.0.0"),
        pool6="2c00::",
        seats=(
            "Johannesburg ZA",
            "Cape Town ZA",
            "Nairobi KE",
            "Mombasa KE",
            "Cairo EG",
            "Alexandria EG",
            "Dakar SN",
            "Thiès SN",
            "Lagos NG",
            "Curepipe MU",
        ),
    ),
    "lacnic": Region(
        label="LACNIC",
        pools=("190.0.0.0", "200.0.0.0"),
        pool6="2800::",
        seats=(
            "São Paulo BR",
            "Fortaleza BR",
            "Buenos Aires AR",
            "Córdoba AR",
            "Santiago CL",
            "Valparaíso CL",
            "Montevideo UY",
            "Lima PE",
            "Bogotá CO",
            "Quito EC",
        ),
    ),
    "arin": Region(
        label="ARIN",
        pools=("63.0.0.0", "23.0.0.0"),
        pool6="2600::",
        seats=(
            "New York US",
            "Chicago US",
            "Dallas US",
            "Seattle US",
            "Miami US",
            "Denver US",
            "Toronto CA",
            "Vancouver CA",
            "Montreal CA",
            "Kingston JM",
        ),
    ),
}


def draw_members(rng: random.Random, region: Region, count: int) -> list[Member]:
    """Invent the members of a registry; all its cities have some."""
    members = []
    for number in range(1, count + 1):
        city, country = region.seats[number % len(region.seats)].rsplit(" ", 1)
        members.append(
            Member(
                number=number,
                name=f"{rng.choice(STEMS)} Example {rng.choice(KINDS)}",
                city=city,
                country=country,
                date=dt.date(1996, 1, 1) + dt.timedelta(days=rng.randrange(9000)),
            )
        )
    return members


def draw_allocation(rng: random.Random, region: Region, member: Member, family: int) -> Subnet:
    """Return a member its own prefix: 16 to 19 bits, or 32 bits of IPv6; those of two members never meet."""
    if family == 4:
        pool = region.pools[member.number % len(region.pools)]
        first = int(ipaddress.IPv4Address(pool)) + (member.number << 18)
        last = first + (1 << (32 - rng.randrange(16, 20))) - 1
    else:
        first = int(ipaddress.IPv6Address(region.pool6)) + (member.number << 96)
        last = first + (1 << 96) - 1
    return Subnet(
        first=first,
        last=last,
        family=family,
        level=0,
        member=member,
        date=member.date,
        customer="",
        parent="",
    )


def draw_children(rng: random.Random, parent: Subnet) -> Iterator[Subnet]:
    """Draw subnets inside a subnet, and subnets inside those; one in eight is not a prefix."""
    bits = (parent.last - parent.first).bit_length()
    child_bits = bits - (rng.choice((2, 2, 3, 4)) if parent.family == 4 else 8)
    if child_bits < (2 if parent.family == 4 else 64) or rng.random() < 0.17 * parent.level:
        return
    slots = (parent.last - parent.first + 1) >> child_bits
    for slot in sorted(rng.sample(range(slots), min(slots, rng.choice((1, 2, 2, 3))))):
        first = parent.first + (slot << child_bits)
        spare = (1 << child_bits) // 4 if parent.family == 4 and rng.random() < 0.125 else 0
        child = Subnet(
            first=first,
            last=first + (1 << child_bits) - 1 - spare,
            family=parent.family,
            level=parent.level + 1,
            member=parent.member,
            date=parent.date + dt.timedelta(days=rng.randrange(1, 900)),
            customer=f"{rng.choice(CUSTOMERS)}-{rng.randrange(10, 100)}",
            parent=parent.prefix_text,
        )
        yield child
        if not spare:
            yield from draw_children(rng, child)


def draw_subnets(rng: random.Random, region: Region, members: list[Member], family: int) -> list[Subnet]:
    """Draw all subnets of a registry's members."""
    subnets: list[Subnet] = []
    for member in members:
        if family == 4 or member.number % 2:
            allocation = draw_allocation(rng, region, member, family)
            subnets += [allocation, *draw_children(rng, allocation)]
    return subnets


def mixed(rng: random.Random, bulk: list[str], hard_text: str) -> str:
    """Put hand-written paragraphs between generated ones, both in their own order."""
    special = [text + "\n" for text in hard_text.strip("\n").split("\n\n")]
    places = sorted(rng.randrange(len(bulk) + 1) for _ in special)
    merged = list(bulk)
    for place, text in reversed(list(zip(places, special, strict=True))):
        merged.insert(place, text)
    return "\n".join(merged)


def dump(title: str, body: str) -> str:
    """Put the heading of a sample before its paragraphs."""
    return f"#\n# {title}: an invented sample, see rir_dumps/README.md\n#\n\n{body}"


def as_line(name: str, member: Member) -> str:
    """Write a line of statistics for a member's AS number."""
    return (
        f"{name}|{member.country}|asn|{64496 + member.number}|1|{member.date:%Y%m%d}|allocated|{member.stem}"
    )


def range_line(name: str, subnet: Subnet) -> str:
    """Write a line of statistics for what a member was given."""
    value = subnet.last - subnet.first + 1 if subnet.family == 4 else subnet.length
    what = f"ipv{subnet.family}|{subnet.address(subnet.first)}|{value}"
    return f"{name}|{subnet.member.country}|{what}|{subnet.date:%Y%m%d}|allocated|{subnet.member.stem}"


def statistics(region: Region, name: str, version: str, subnets: list[Subnet]) -> str:
    """Write delegated-extended statistics of what a registry gave, with the hard cases at the end."""
    given = [subnet for subnet in subnets if subnet.level == 0]
    records = [as_line(name, subnet.member) for subnet in given if subnet.family == 4]
    records += [range_line(name, subnet) for subnet in given]
    records += hard.STATISTICS[name].strip().split("\n")
    kinds = {kind: sum(f"|{kind}|" in record for record in records) for kind in ("asn", "ipv4", "ipv6")}
    head = ["# An invented sample, see rir_dumps/README.md", "#", ""] if region.label == "APNIC" else []
    head.append(f"{version}|{name}|20260131|{len(records)}|19960101|20260130|+0000")
    head += [f"{name}|*|{kind}|*|{count}|summary" for kind, count in kinds.items()]
    return "\n".join([*head, *records]) + "\n"


def whois_dumps(rng: random.Random, members: int) -> tuple[dict[str, bytes], dict[str, list[Subnet]]]:
    """Draw the WHOIS dumps of all registries; also give the subnets in them, by registry."""
    people = {label: draw_members(rng, region, members) for label, region in REGIONS.items()}
    v4 = {label: draw_subnets(rng, region, people[label], 4) for label, region in REGIONS.items()}
    v6 = {label: draw_subnets(rng, region, people[label], 6) for label, region in REGIONS.items()}

    def text(title: str, bulk: list[str], hard_text: str) -> str:
        return dump(title, mixed(rng, bulk, hard_text))

    ripe = text("ripe.db.inetnum", [ripe_registration(s) for s in v4["ripe"]], hard.RIPE_INETNUM)
    ripe6 = text("ripe.db.inet6num", [ripe_registration(s) for s in v6["ripe"]], hard.RIPE_INET6NUM)
    organisations = [ripe_organisation(member) for member in people["ripe"]]
    apnic = text("apnic.db.inetnum", [apnic_registration(s) for s in v4["apnic"]], hard.APNIC_INETNUM)
    apnic6 = text("apnic.db.inet6num", [apnic_registration(s) for s in v6["apnic"]], hard.APNIC_INET6NUM)
    afrinic = [afrinic_registration(s) for s in v4["afrinic"] + v6["afrinic"]]
    afrinic += [afrinic_organisation(member) for member in people["afrinic"]]
    lacnic = text("lacnic.db", [lacnic_registration(s) for s in v4["lacnic"] + v6["lacnic"]], hard.LACNIC)
    arin = text("arin_nets.txt", [arin_registration(s) for s in v4["arin"]], hard.ARIN_NETS)
    arin_rest = [arin_registration(s) for s in v6["arin"]] + [arin_organisation(m) for m in people["arin"]]
    dumps = {
        "ripe.db.inetnum.gz": ripe.encode("latin-1"),
        "ripe.db.inet6num": ripe6.encode("latin-1"),
        "ripe.db.organisation.gz": text(
            "ripe.db.organisation", organisations, hard.RIPE_ORGANISATION
        ).encode(),
        "apnic.db.inetnum.gz": apnic.encode(),
        "apnic.db.inet6num": apnic6.encode(),
        "afrinic.db.gz": text("afrinic.db", afrinic, hard.AFRINIC).encode("latin-1"),
        "lacnic.db": lacnic.encode("latin-1"),
        "arin_nets.txt": arin.replace("\n", "\r\n").encode(),
        "arin_db.zip": text("arin_db.txt", arin_rest, hard.ARIN_DB).encode(),
    }
    return dumps, {label: v4[label] + v6[label] for label in REGIONS}


def sample_dumps(seed: int, members: int) -> dict[str, bytes]:
    """Draw all dumps of the sample: file name to plain text."""
    dumps, subnets = whois_dumps(random.Random(seed), members)
    forms = {"afrinic": "2", "apnic": "2.3", "arin": "2.3", "lacnic": "2.3", "ripe": "2"}
    for label, version in forms.items():
        name = "ripencc" if label == "ripe" else label
        packed = ".gz" if label == "arin" else ""
        content = statistics(REGIONS[label], name, version, subnets[label])
        dumps[f"delegated-{name}-extended-latest{packed}"] = content.encode()
    dumps["ipv4-address-space.csv"] = hard.IANA_IPV4.replace("\n", "\r\n").encode()
    dumps["ipv6-unicast-address-assignments.csv"] = hard.IANA_IPV6.encode()
    dumps["ipv6-address-space.csv"] = hard.IANA_IPV6_SPACE.encode()
    return dumps


def packed_zip(data: bytes) -> bytes:
    """Pack a dump as ARIN does: the text beside a readme, with a fixed date."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("readme.txt", b"An invented sample.\n"), ("arin_db.txt", data)):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def packed(name: str, data: bytes) -> bytes:
    """Compress a dump as its name says, without a time stamp."""
    if name.endswith(".gz"):
        return gzip.compress(data, compresslevel=9, mtime=0)
    return packed_zip(data) if name.endswith(".zip") else data


def main() -> None:
    """Write the sample."""
    parser = argparse.ArgumentParser(description="Write the sample dumps.")
    parser.add_argument("--out", type=Path, default=SAMPLE, help="folder to write to")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--members", type=int, default=MEMBERS, help=f"of each registry, up to {MOST_MEMBERS}"
    )
    options = parser.parse_args()
    if not 1 <= options.members <= MOST_MEMBERS:
        parser.error(f"--members must be 1 to {MOST_MEMBERS}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in sample_dumps(options.seed, options.members).items():
        (options.out / name).write_bytes(packed(name, data))
