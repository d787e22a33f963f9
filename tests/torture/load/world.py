"""The world of a load campaign: agents that are members already, sites in subnets, pages in lanes.

*Agents* have places, and subnets are in towns. The coordinator knows both (`geoloc` of the registrations),
and round trips follow from them: so a decision takes a probe or two, as it does in earnest. *Sites* are
addresses, sixteen to a /24. *Pages*: each host has so many, all of them linked from its first; the last leads
to the first page of the host that is `LANES` further. So as many hosts as there are lanes are crawled at a
time, and a crawl does the same from its beginning to its end, only with more behind it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path

from ipmicra.app.access import TokenWish, add_token
from ipmicra.app.build.build import build
from ipmicra.app.home import Home
from ipmicra.app.serve.place import OPERATOR_TOKEN
from ipmicra.edge.coordinator.access import hash_of
from ipmicra.edge.store.ports import AgentRecord, Member
from ipmicra.model.address import Address
from ipmicra.model.crawler import CALLS_OUT, Crawler
from ipmicra.model.geo import km_between
from ipmicra.model.link import Link
from ipmicra.model.location import Location
from ipmicra.model.token import Role, TokenRecord

PER_SUBNET = 16
TOWNS = 3_000
LANES = 2_000
_FIRST = int(IPv4Address("11.0.0.0"))


def host_of(number: int) -> str:
    """Return the address of a site."""
    return str(IPv4Address(_FIRST + number // PER_SUBNET * 256 + 1 + number % PER_SUBNET))


def agent_token(number: int) -> str:
    return f"ipm_a_{number:043d}"


def agent_name(number: int) -> str:
    return f"c{number}"


def place_of(name: str) -> Location:
    """Return where an agent or a town is, by its name: anywhere between the polar circles."""
    north, east = (int.from_bytes(part, "big") for part in _halves(name))
    return Location(latitude=north / 2**32 * 120 - 60, longitude=east / 2**32 * 360 - 180, radius_km=20.0)


def _halves(name: str) -> tuple[bytes, bytes]:
    found = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return found[:4], found[4:]


def place_of_subnet(number: int) -> Location:
    """Return where a subnet is: in one of the towns."""
    return place_of(f"T{int.from_bytes(_halves(f'N{number}')[0], 'big') % TOWNS}")


def trip_ms(agent: str, address: Address) -> float:
    """Return the round trip between an agent and an address: light in glass on a winding way."""
    subnet = (int(address) - _FIRST) // 256
    return 0.5 + 1.4 * km_between(place_of(agent), place_of_subnet(subnet)) / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedWeb:
    """Hosts with so many pages each."""

    hosts: int
    pages: int

    @property
    def count(self) -> int:
        return self.hosts * self.pages

    def link(self, host: int, page: int) -> Link:
        name = host_of(host)
        url = f"http://{name}/section/{page}/article-{host}.html"
        key = int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)
        return Link(url=url, host=name, depth=min(page, 1), key=key, extra=f"{host}/{page}")

    def starts(self, part: int, parts: int) -> list[Link]:
        """Return the first pages of some of the lanes."""
        return [self.link(host, 0) for host in range(part, min(LANES, self.hosts), parts)]

    def place(self, link: Link) -> tuple[int, int]:
        host, _, page = link.extra.partition("/")
        return int(host), int(page)

    def links_of(self, host: int, page: int) -> Iterator[Link]:
        """Return what is new on a page."""
        if page == 0:
            yield from (self.link(host, number) for number in range(1, self.pages))
        if page == self.pages - 1 and host + LANES < self.hosts:
            yield self.link(host + LANES, 0)


class Seen:
    """Which pages were fetched, and how many of them again."""

    def __init__(self, web: LoadedWeb) -> None:
        self._pages, self._bits = web.pages, bytearray(web.count)
        self.count = self.again = 0

    def see(self, host: int, page: int) -> None:
        at = host * self._pages + page
        self.again += self._bits[at]
        self.count += not self._bits[at]
        self._bits[at] = 1


def make_home(folder: Path, sites: int, agents: int) -> None:
    """Make a home whose hierarchy has the subnets of all sites and whose agents are members."""
    folder.mkdir()
    subnets = -(-sites // PER_SUBNET)
    with (folder / "dump.db").open("w") as file:
        for number in range(subnets):
            first, place = IPv4Address(_FIRST + number * 256), place_of_subnet(number)
            file.write(
                f"inetnum: {first} - {first + 255}\nnetname: N{number}\norg: ORG-L{number % 5000}-RIPE\n"
                f"geoloc: {place.latitude:.4f} {place.longitude:.4f}\nsource: RIPE\n\n"
            )
        for number in range(min(5000, subnets)):
            file.write(f"organisation: ORG-L{number}-RIPE\norg-name: Load {number}\nsource: RIPE\n\n")
    build([folder / "dump.db"], folder / "hierarchy.ipm")
    with Home(folder=folder).open_store() as store, store.transaction():
        token = add_token(store, TokenWish(name="operator", role=Role.OPERATOR))
        (folder / OPERATOR_TOKEN).write_text(token)
        for number in range(agents):
            name = agent_name(number)
            address = ip_address(f"198.{18 + number // 60_000}.{number // 250 % 240}.{number % 250 + 1}")
            store.tokens.add(
                TokenRecord(
                    name=name,
                    role=Role.AGENT,
                    hash=hash_of(agent_token(number)),
                    created_s=1.0,
                    crawler=name,
                )
            )
            crawler = Crawler(
                name=name,
                address=address,
                agent_url=f"{CALLS_OUT}{name}",
                location=place_of(name),
                joined_s=1.0,
            )
            store.crawlers.put(Member(crawler=crawler))
            store.agents.put(
                AgentRecord(crawler=name, id=f"{number:032x}", joined_s=1.0, seen_s=1.0, software="stub")
            )
