"""Where the registries publish their dumps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from ipmicra.model.registry import Registry

ChecksumKind = Literal["md5", "sha256"]

KEY_MARK = "{key}"
"""Placeholder for the API key in a URL."""


class DumpKind(StrEnum):
    """What a dump contains."""

    WHOIS = "whois"
    """Registrations and organisations, down to the customers of providers."""
    STATISTICS = "statistics"
    """What a registry allocated itself: ranges, countries and dates, no names."""
    IANA = "iana"
    """The top level: which registry received which part of the address space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpSource:
    """One dump: its file name and where it is published."""

    name: str
    """File name, also on disk; never a path."""
    registry: Registry
    kind: DumpKind
    url: str
    """May contain `{key}` as a placeholder for the API key."""
    checksum_url: str | None = None
    """None if the registry publishes no checksum."""
    checksum_kind: ChecksumKind = "md5"
    note: str = ""
    needs_key: str | None = None
    """Environment variable with the API key that the registry requires."""
    key: str | None = field(default=None, repr=False)
    """The API key itself; must not be printed, logged or stored."""

    def with_key(self, key: str) -> DumpSource:
        """Return a copy with the API key."""
        return replace(self, key=key)

    def at_mirror(self, base_url: str) -> DumpSource:
        """Return a copy at `BASE/NAME`, its checksum at `BASE/NAME.md5`; mirrors need no key."""
        url = f"{base_url.rstrip('/')}/{self.name}"
        checksum_url = f"{url}.{self.checksum_kind}" if self.checksum_url else None
        return replace(self, url=url, checksum_url=checksum_url, needs_key=None, key=None)


def _whois(registry: Registry, folder: str, names: tuple[str, ...], note: str = "") -> list[DumpSource]:
    """Return the WHOIS dumps of one folder."""
    return [
        DumpSource(name=name, registry=registry, kind=DumpKind.WHOIS, url=f"{folder}/{name}", note=note)
        for name in names
    ]


def _statistics(registry: Registry, folder: str, note: str = "") -> DumpSource:
    """Return the extended statistics of a registry; the last part of the folder names the file."""
    name = f"delegated-{folder.rpartition('/')[2]}-extended-latest"
    return DumpSource(
        name=name,
        registry=registry,
        kind=DumpKind.STATISTICS,
        url=f"{folder}/{name}",
        checksum_url=f"{folder}/{name}.md5",
        note=note,
    )


def _iana(name: str) -> DumpSource:
    """Return a table of IANA's; its folder has the name of the table."""
    return DumpSource(
        name=f"{name}.csv",
        registry=Registry.IANA,
        kind=DumpKind.IANA,
        url=f"https://www.iana.org/assignments/{name}/{name}.csv",
    )


DUMP_SOURCES: tuple[DumpSource, ...] = (
    *_whois(
        Registry.AFRINIC,
        "https://ftp.afrinic.net/pub/dbase",
        ("afrinic.db.gz",),
        "All classes in one file; personal data is blanked.",
    ),
    *_whois(
        Registry.APNIC,
        "https://ftp.apnic.net/apnic/whois",
        ("apnic.db.inetnum.gz", "apnic.db.inet6num.gz", "apnic.db.organisation.gz"),
    ),
    DumpSource(
        name="arin_db.zip",
        registry=Registry.ARIN,
        kind=DumpKind.WHOIS,
        url=f"https://accountws.arin.net/public/rest/downloads/bulkwhois/nets+orgs.zip?apikey={KEY_MARK}",
        note="For those whom ARIN has granted bulk access; without contact records; may not be passed on.",
        needs_key="IPMICRA_ARIN_KEY",
    ),
    *_whois(
        Registry.LACNIC,
        "https://ftp.lacnic.net/lacnic/dbase",
        ("lacnic.db.gz",),
        "The public, redacted one: ranges, status, city and country, without holders.",
    ),
    *_whois(
        Registry.RIPE,
        "https://ftp.ripe.net/ripe/dbase/split",
        ("ripe.db.inetnum.gz", "ripe.db.inet6num.gz", "ripe.db.organisation.gz"),
        "Personal data is replaced by placeholders.",
    ),
    _statistics(Registry.AFRINIC, "https://ftp.afrinic.net/pub/stats/afrinic"),
    _statistics(
        Registry.APNIC,
        "https://ftp.apnic.net/stats/apnic",
        "The checksum is published about ten minutes after the dump, about 15:15 UTC.",
    ),
    _statistics(
        Registry.ARIN,
        "https://ftp.arin.net/pub/stats/arin",
        "Several servers with their own ETags; the checksum names the dated file.",
    ),
    _statistics(Registry.LACNIC, "https://ftp.lacnic.net/pub/stats/lacnic"),
    _statistics(Registry.RIPE, "https://ftp.ripe.net/pub/stats/ripencc"),
    _iana("ipv4-address-space"),
    _iana("ipv6-unicast-address-assignments"),
)
"""Every dump that ipmicra knows how to fetch, by kind and registry."""
