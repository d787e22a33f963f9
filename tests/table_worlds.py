"""A home with three crawlers, for tests of whole tables of hosts."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from ipmicra.edge.store.ports import DelegationRecord, Member
from ipmicra.edge.store.store import Store
from ipmicra.model.assignment import Assignment
from ipmicra.model.crawler import Crawler
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.sample import Sample
from tests.cli.command_line import built_file

DUMP = "\n".join(
    f"inetnum: 10.{number}.0.0 - 10.{number}.255.255\nnetname: N{number}\ncountry: GR\nsource: RIPE\n"
    for number in range(8)
)


def home_of_three(folder: Path) -> Path:
    """Three crawlers; 10.0/16 is delegated to ber, and one host in it is assigned to cdg."""
    built_file(folder, DUMP, "hierarchy.ipm")
    with Store.open(f"sqlite:///{folder}/state.db") as store:
        for number, name in enumerate(("ath", "ber", "cdg")):
            store.crawlers.put(
                Member(crawler=Crawler(name=name, address=ip_address(f"192.0.2.{number + 1}")))
            )
            trips = [
                Sample(
                    crawler=name, address=ip_address(f"10.{net}.0.0"), rtt_ms=5.0 + 40 * (net % 3 != number)
                )
                for net in range(1, 8)
            ]
            store.samples.add_many(trips)
        held = Delegation(
            first=ip_address("10.0.0.0"),
            last=ip_address("10.0.255.255"),
            crawler="ber",
            evidence=Evidence.PROBED,
            rtt_ms=9.0,
            probes=3,
            created_s=1.0,
            expires_s=4e9,
        )
        store.delegations.put_many([DelegationRecord(delegation=held, address=ip_address("10.0.0.1"))])
        own = Assignment(
            host="own.example",
            address=ip_address("10.0.0.9"),
            crawler="cdg",
            reason="nearest",
            backend="balance",
        )
        store.assignments.put_many([own])
    return folder
