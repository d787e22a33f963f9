"""How the sample writes its registrations and organisations, one pair of functions per registry."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An invented organisation that a registry gives addresses to."""

    number: int
    name: str
    city: str
    country: str
    date: dt.date

    @property
    def stem(self) -> str:
        """First word of the name in capitals, with the number: unique within a registry."""
        return f"{self.name.split()[0].upper()}{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A range of a member; level 0 is what the registry gave it."""

    first: int
    last: int
    family: int
    level: int
    member: Member
    date: dt.date
    customer: str
    parent: str

    def address(self, number: int) -> str:
        """Write one address of the subnet's family."""
        return str(ipaddress.IPv4Address(number) if self.family == 4 else ipaddress.IPv6Address(number))

    @property
    def range_text(self) -> str:
        """Write `first - last`."""
        return f"{self.address(self.first)} - {self.address(self.last)}"

    @property
    def length(self) -> int:
        """Length of the prefix; of a subnet that is none, that of the next wider one."""
        return (32 if self.family == 4 else 128) - (self.last - self.first).bit_length()

    @property
    def prefix_text(self) -> str:
        """Write `prefix/length`, or the range where it is not a prefix."""
        is_prefix = self.last - self.first + 1 == 1 << (self.last - self.first).bit_length()
        return f"{self.address(self.first)}/{self.length}" if is_prefix else self.range_text

    @property
    def netname(self) -> str:
        """Return the subnet a name."""
        return f"{self.member.stem}-{self.customer.upper()}" if self.level else f"{self.member.stem}-NET"


def paragraph(*attributes: tuple[str, str], width: int = 16) -> str:
    """Write attributes with their values in one column; those with an empty value are left out."""
    return "".join(f"{key}:".ljust(width) + value + "\n" for key, value in attributes if value)


def statuses(*by_level: str) -> Callable[[int], str]:
    """Make a function from level to status; the last one is for all further levels."""
    return lambda level: by_level[min(level, len(by_level) - 1)]


ripe_status = statuses("ALLOCATED PA", "SUB-ALLOCATED PA", "LIR-PARTITIONED PA", "ASSIGNED PA")
ripe6_status = statuses("ALLOCATED-BY-RIR", "ALLOCATED-BY-LIR", "ASSIGNED")
apnic_status = statuses("ALLOCATED PORTABLE", "ALLOCATED NON-PORTABLE", "ASSIGNED NON-PORTABLE")
lacnic_status = statuses("allocated", "reallocated", "reassigned")
arin_status = statuses("allocation", "reallocation", "reassignment")


def ripe_registration(subnet: Subnet) -> str:
    """Write a registration as RIPE does."""
    is_own = subnet.level == 0
    return paragraph(
        ("inetnum" if subnet.family == 4 else "inet6num", rpsl_range(subnet)),
        ("netname", subnet.netname),
        ("descr", "" if is_own else f"{subnet.member.name}, {subnet.customer}"),
        ("descr", "" if is_own else subnet.member.city),
        ("country", subnet.member.country),
        ("org", f"ORG-{subnet.member.stem}-RIPE" if is_own else ""),
        ("admin-c", "DUMY-RIPE"),
        ("tech-c", "DUMY-RIPE"),
        ("status", (ripe_status if subnet.family == 4 else ripe6_status)(subnet.level)),
        ("mnt-by", "RIPE-NCC-HM-MNT" if is_own else ""),
        ("mnt-by", f"MNT-{subnet.member.stem}"),
        ("created", f"{subnet.member.date}T08:00:00Z"),
        ("last-modified", f"{subnet.date}T09:30:00Z"),
        ("source", "RIPE"),
    )


def rpsl_range(subnet: Subnet) -> str:
    """Write a range as RPSL does: IPv4 as first and last, IPv6 as prefix."""
    return subnet.range_text if subnet.family == 4 else subnet.prefix_text


def ripe_organisation(member: Member) -> str:
    """Write an organisation as RIPE does."""
    return paragraph(
        ("organisation", f"ORG-{member.stem}-RIPE"),
        ("org-name", member.name),
        ("country", member.country),
        ("org-type", "LIR"),
        ("address", f"{member.number} Sample Street"),
        ("address", member.city),
        ("mnt-ref", f"MNT-{member.stem}"),
        ("mnt-by", "RIPE-NCC-HM-MNT"),
        ("last-modified", f"{member.date}T10:00:00Z"),
        ("source", "RIPE # Filtered"),
    )


def apnic_registration(subnet: Subnet) -> str:
    """Write a registration as APNIC does."""
    return paragraph(
        ("inetnum" if subnet.family == 4 else "inet6num", rpsl_range(subnet)),
        ("netname", subnet.netname),
        ("descr", subnet.member.name),
        ("descr", subnet.customer),
        ("descr", f"{subnet.member.number} Sample Street, {subnet.member.city}"),
        ("country", subnet.member.country),
        ("admin-c", f"{subnet.member.stem}-AP"),
        ("tech-c", f"{subnet.member.stem}-AP"),
        ("abuse-c", "AE1-AP"),
        ("status", apnic_status(subnet.level)),
        (
            "mnt-by",
            "APNIC-HM" if subnet.level == 0 else f"MAINT-{subnet.member.country}-{subnet.member.stem}",
        ),
        ("mnt-lower", f"MAINT-{subnet.member.country}-{subnet.member.stem}"),
        ("last-modified", f"{subnet.date}T04:00:00Z"),
        ("source", "APNIC"),
    )


def afrinic_registration(subnet: Subnet) -> str:
    """Write a registration as AFRINIC does."""
    return paragraph(
        ("inetnum" if subnet.family == 4 else "inet6num", rpsl_range(subnet)),
        ("netname", subnet.netname),
        ("descr", f"{subnet.member.name} {subnet.customer}".strip()),
        ("country", subnet.member.country),
        ("org", f"ORG-{subnet.member.stem}-AFRINIC" if subnet.level == 0 else ""),
        ("admin-c", "AE1-AFRINIC"),
        ("tech-c", "EO1-AFRINIC"),
        ("status", (ripe_status if subnet.family == 4 else ripe6_status)(subnet.level)),
        ("mnt-by", "AFRINIC-HM-MNT" if subnet.level == 0 else f"{subnet.member.stem}-MNT"),
        ("changed", f"***@example.org {subnet.date:%Y%m%d}"),
        ("source", "AFRINIC"),
    )


def afrinic_organisation(member: Member) -> str:
    """Write an organisation as AFRINIC does."""
    return paragraph(
        ("organisation", f"ORG-{member.stem}-AFRINIC"),
        ("org-name", member.name),
        ("org-type", "LIR"),
        ("country", member.country),
        ("address", f"{member.number} Sample Street"),
        ("address", member.city),
        ("mnt-by", "AFRINIC-HM-MNT"),
        ("changed", f"***@example.org {member.date:%Y%m%d}"),
        ("source", "AFRINIC"),
    )


def lacnic_registration(subnet: Subnet) -> str:
    """Write a registration as LACNIC does: octets of zero at the end are left out."""
    start, _, length = subnet.prefix_text.partition("/")
    short = start
    while subnet.family == 4 and length and short.endswith(".0"):
        short = short.removesuffix(".0")
    return paragraph(
        ("inetnum", f"{short}/{length}" if length else subnet.range_text),
        ("status", lacnic_status(subnet.level)),
        ("owner", f"{subnet.member.name} {subnet.customer}".strip()),
        ("ownerid", f"{subnet.member.country}-{subnet.member.stem}{subnet.customer[-3:].upper()}-LACNIC"),
        ("responsible", "Equipe de Exemplo"),
        ("address", f"Rua da Amostra, {subnet.member.number}," if subnet.level == 0 else ""),
        ("address", f"00000 - {subnet.member.city} -" if subnet.level == 0 else ""),
        ("country", subnet.member.country),
        ("owner-c", "EEX"),
        ("tech-c", "EEX"),
        ("created", f"{subnet.member.date:%Y%m%d}"),
        ("changed", f"{subnet.date:%Y%m%d}"),
        ("inetnum-up", subnet.parent),
        width=13,
    )


def arin_registration(subnet: Subnet) -> str:
    """Write a registration as ARIN does."""
    mark = subnet.address(subnet.first).replace(".", "-").replace(":", "-").strip("-").upper()
    return paragraph(
        ("NetHandle" if subnet.family == 4 else "V6NetHandle", f"NET{'6' * (subnet.family == 6)}-{mark}-1"),
        ("OrgID", f"{subnet.member.stem}"),
        ("NetName", subnet.netname),
        ("NetRange", subnet.range_text.upper()),
        ("NetType", arin_status(subnet.level)),
        ("RegDate", f"{subnet.member.date}"),
        ("Updated", f"{subnet.date}"),
        ("Source", "ARIN"),
    )


def arin_organisation(member: Member) -> str:
    """Write an organisation as ARIN does."""
    return paragraph(
        ("OrgID", member.stem),
        ("OrgName", member.name),
        ("CanAllocate", "Y"),
        ("Street", f"{member.number} Sample Street"),
        ("City", member.city),
        ("Country", member.country),
        ("RegDate", f"{member.date}"),
        ("Updated", f"{member.date}"),
        ("Source", "ARIN"),
    )
