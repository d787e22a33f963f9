"""`ipmicra partition` with a home: its fleet, hierarchy and store, `locate`, and the logical table."""

from __future__ import annotations

import csv
import json
from ipaddress import ip_address
from pathlib import Path

import pytest

from ipmicra.edge.store.ports import DelegationRecord
from ipmicra.edge.store.store import Store
from ipmicra.errors import InputError
from ipmicra.model.assignment import Assignment
from ipmicra.model.delegation import Delegation, Evidence
from ipmicra.model.location import Location
from ipmicra.model.sample import Sample
from ipmicra.model.site import Site
from tests.cli.command_line import built_file, invoked

TOWNS = {"ath": (38.0, 23.7), "ber": (52.5, 13.4), "lis": (38.7, -9.1)}
DUMP = "\n".join(
    f"""inetnum: 20.{number}.0.0 - 20.{number}.255.255
netname: NET-{number}
org: ORG-{number}-RIPE
country: {country}
status: ALLOCATED PA
source: RIPE

organisation: ORG-{number}-RIPE
org-name: Holder {number}
address: Main street 1
address: {city}
address: {name}
source: RIPE

inetnum: 20.{number}.1.0 - 20.{number}.1.255
netname: CUSTOMER-{number}
country: {country}
status: ASSIGNED PA
source: RIPE
"""
    for number, (city, country, name) in enumerate(
        [("Athens", "GR", "Greece"), ("Berlin", "DE", "Germany"), ("Lisbon", "PT", "Portugal")]
    )
)


def host(number: int) -> str:
    return f"s{number}.example"


def address(number: int) -> str:
    """Every third site is in the same town; some are customers of its provider."""
    return f"20.{number % 3}.{number // 3 % 2}.{number + 1}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose fleet of three knows 30 sites."""
    folder = tmp_path / "home"
    folder.mkdir()
    built_file(folder, DUMP, "hierarchy.ipm")
    for number, (name, (north, east)) in enumerate(TOWNS.items()):
        words = ("--latitude", str(north), "--longitude", str(east))
        done = invoked("--home", folder, "crawler", "add", name, f"30.0.{number}.1", *words)
        assert done.exit_code == 0, done.output
    with Store.open(str(folder / "state.db")) as store:
        sites = [Site(host(number), ip_address(address(number))) for number in range(30)]
        store.sites.put_many(sites, 1.0)
    return folder


def delegate_all(home: Path, sites: int = 30) -> None:
    """Delegate each site's address to the crawler of its town, with the sample that this rests on."""
    with Store.open(str(home / "state.db")) as store:
        names = list(TOWNS)
        for number in range(sites):
            own, at = names[number % 3], ip_address(address(number))
            north, east = TOWNS[own]
            store.samples.add_many([Sample(crawler=own, address=at, rtt_ms=10.0)])
            delegation = Delegation(
                first=at, last=at, crawler=own, evidence=Evidence.PROBED, rtt_ms=10.0, probes=1,
                created_s=1.0, expires_s=4e9,
            )  # fmt: skip
            place = Location(latitude=north, longitude=east, radius_km=5.0, country="GR")
            store.delegations.put_many([DelegationRecord(delegation=delegation, address=at, location=place)])


def parted(folder: Path, *words: str | Path) -> tuple[dict[str, dict[str, float]], str]:
    result = invoked("--home", folder, "partition", *words, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    return {row["method"]: row for row in json.loads(result.stdout)}, result.stderr


def owners(folder: Path, output: Path, *words: str | Path) -> dict[str, str]:
    parted(folder, *words, "-o", output)
    with output.open() as file:
        return {row["host"]: row["crawler"] for row in csv.DictReader(file)}


def complaint(folder: Path, *words: str | Path) -> str:
    result = invoked("--home", folder, "partition", *words)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


# --- the home's fleet, hierarchy and store


def test_the_fleet_hierarchy_and_sites_of_the_home_are_the_default(home: Path, tmp_path: Path) -> None:
    rows, _ = parted(home, "-m", "hash", "-m", "city", "--locate")
    assert all(row["parts"] == 3 for row in rows.values())
    chosen = owners(home, tmp_path / "parts.csv", "--locate", "-m", "city")
    assert {chosen[host(number)] for number in range(0, 30, 3)} == {"ath"}
    assert {chosen[host(number)] for number in range(1, 30, 3)} == {"ber"}


def test_what_is_delegated_and_measured_is_used(home: Path, tmp_path: Path) -> None:
    delegate_all(home)
    chosen = owners(home, tmp_path / "parts.csv", "-m", "delegated")
    assert chosen == {host(number): list(TOWNS)[number % 3] for number in range(30)}
    rows, said = parted(home)
    assert {"isp-city", "delegated", "rtt-best", "balance", "can"} <= rows.keys()
    assert "30 sites are placed where their delegation says" in said
    assert "round trips: 30 from the store, 60 expected by the model" in said
    assert rows["delegated"]["moved_on_join"] is None


def test_methods_that_are_left_out_are_named_with_the_reason(home: Path) -> None:
    delegate_all(home, sites=20)
    rows, said = parted(home)
    assert "delegated" not in rows
    assert "delegated left out" in said
    assert "10 of 30 sites are not delegated to a crawler of the fleet" in said
    assert "metis-links left out: it needs links" in said
    assert "10 of 30 sites are not delegated" in complaint(home, "-m", "delegated")
    _, said = parted(home.parent / "none", "a.example", "-n", "2")
    assert "isp-city left out: it needs locations of sites (--locate" in said
    assert "holders of addresses (a hierarchy" in said


def test_pages_of_the_store_count(home: Path) -> None:
    with Store.open(str(home / "state.db")) as store:
        store.assignments.put_many(
            [
                Assignment(
                    host=host(0), address=ip_address(address(0)), crawler="ath", reason="nearest",
                    backend="balance", pages=10_000,
                )
            ]
        )  # fmt: skip
    rows, _ = parted(home, "-m", "hash")
    assert rows["hash"]["load_variation"] > 1


def test_parts_without_names_do_not_touch_the_fleet(home: Path) -> None:
    rows, said = parted(home, host(1), host(2), "-n", "2", "-m", "two-level")
    assert rows["two-level"]["parts"] <= 2
    assert "kept" not in said


def test_a_home_without_a_fleet_says_what_to_do(tmp_path: Path) -> None:
    assert "ipmicra crawler add" in complaint(tmp_path / "new", "a.example")
    assert "there is no such store" in complaint(tmp_path, "a.example", "--store", str(tmp_path / "no.db"))


# --- locate, then partition


def test_heuristics_distance_graph_and_metis_are_one_command(home: Path, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\n".join(host(number) for number in range(30)))
    chosen = owners(home, tmp_path / "parts.csv", seeds, "--locate", "-m", "metis-geo")
    parts = [{chosen[host(number)] for number in range(town, 30, 3)} for town in range(3)]
    assert [len(part) for part in parts] == [1, 1, 1]
    assert len(set.union(*parts)) == 3
    _, said = parted(home, seeds, "--locate", "-m", "metis-geo")
    assert "located 30 of 30 sites: registry 30" in said


def test_without_a_hierarchy_names_alone_are_located_and_it_is_told(tmp_path: Path) -> None:
    _, said = parted(tmp_path, "london.example.net", "berlin.example.net", "x.example", "-n", "2", "--locate")
    assert "located 2 of 3 sites: city 2" in said
    assert "registrations have no vote" in said


def test_a_table_of_known_places_takes_part(tmp_path: Path) -> None:
    table = tmp_path / "known.csv"
    table.write_text("target,latitude,longitude,radius_km,city,country\nx.example,38,23.7,5,Athens,GR\n")
    _, said = parted(tmp_path, "x.example", "y.example", "-n", "2", "--table", table, "-m", "metis-geo")
    assert "located 1 of 2 sites" in said


@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
def test_what_locate_writes_is_a_table_of_sites(home: Path, tmp_path: Path, form: str) -> None:
    located = invoked(
        "--home", home, "locate", *(address(n) for n in range(30)), "--offline", "--format", form
    )
    assert located.exit_code == 0, located.output
    path = tmp_path / f"located.{form}"
    path.write_text(located.stdout)
    output = tmp_path / "parts.csv"
    chosen = owners(tmp_path / "none", output, "--sites", path, "-n", "3", "-m", "metis-geo")
    assert len(chosen) == 30
    assert {len({chosen[address(n)] for n in range(town, 30, 3)}) for town in range(3)} == {1}
    if form == "csv":
        assert owners(tmp_path / "none", output, path, "-n", "3", "-m", "metis-geo") == chosen


# --- the logical table


def test_the_table_is_kept_in_the_store_and_a_crawler_in_the_middle_takes_only_its_own_along(
    home: Path, tmp_path: Path
) -> None:
    many = tmp_path / "many.txt"
    many.write_text("\n".join(f"h{number}.example" for number in range(2000)))
    for number in range(2):
        invoked("--home", home, "crawler", "add", f"new{number}", f"30.1.{number}.1")
    first = owners(home, tmp_path / "1.csv", many, "-m", "two-level")
    assert invoked("--home", home, "crawler", "remove", "ber").exit_code == 0
    second = owners(home, tmp_path / "2.csv", many, "-m", "two-level")
    moved = {one for one in first if first[one] != second[one]}
    assert moved == {one for one in first if first[one] == "ber"}
    assert invoked("--home", home, "crawler", "add", "oslo", "30.2.0.1").exit_code == 0
    third = owners(home, tmp_path / "3.csv", many, "-m", "two-level")
    assert {third[one] for one in first if third[one] != second[one]} == {"oslo"}
    assert sum(third[one] != second[one] for one in first) <= 1.5 / 5 * 2000


def test_subsite_goes_through_the_same_table(home: Path, tmp_path: Path) -> None:
    labels = [f"part{number}" for number in range(60)]
    plain = owners(home, tmp_path / "1.csv", *labels, "-m", "two-level")
    hosts = [f"{label}.big.example" for label in labels]
    by_label = owners(home, tmp_path / "2.csv", *hosts, "-m", "subsite")
    assert {one.partition(".")[0]: crawler for one, crawler in by_label.items()} == plain


def test_a_crawler_may_leave_for_one_call_which_keeps_nothing(home: Path) -> None:
    parted(home, "-m", "two-level")
    rows, said = parted(home, "-m", "two-level", "--leave", "ber")
    assert rows["two-level"]["parts"] == 2
    assert "ber left; 1,365 of 4,096 logical crawlers move (33.3 %); not kept" in said
    _, said = parted(home, "-m", "two-level", "--join", "oslo")
    assert "oslo joined; 1,024 of 4,096 logical crawlers move (25.0 %); not kept" in said
    _, said = parted(home, "-m", "two-level")
    assert "nothing changed" in said


def test_a_file_keeps_a_table_and_is_its_own_fleet(tmp_path: Path) -> None:
    table, empty = tmp_path / "table.csv", tmp_path / "none"
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("\n".join(f"h{number}.example" for number in range(500)))
    first = owners(empty, tmp_path / "1.csv", hosts, "-n", "5", "-m", "two-level", "--logical", table)
    words = (hosts, "--leave", "crawler-03", "-m", "two-level", "--logical", table)
    dry = table.read_bytes()
    parted(empty, *words, "--dry-run")
    assert table.read_bytes() == dry
    second = owners(empty, tmp_path / "2.csv", *words)
    assert {one for one in first if first[one] != second[one]} == {
        one for one in first if first[one] == "crawler-03"
    }
    third = owners(empty, tmp_path / "3.csv", hosts, "-m", "two-level", "--logical", table)
    assert third == second


def test_damaged_foreign_and_unknown_things_are_told_with_the_next_step(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    words = ("a.example", "-m", "two-level", "--logical", table)
    parted(home, *words)
    whole = table.read_text()
    lines = whole.splitlines(keepends=True)
    for text, message in {
        "".join(lines[:2000]): "has 1,999 logical crawlers, not 4,096: it is cut off",
        "".join(lines[:70] + lines[71:]): "is damaged: line 71 is not that of logical crawler 69",
        whole.replace("\n7,", "\n7;", 1): "is damaged: line 9",
        "": "is no logical table",
        "rot": "is no logical table",
    }.items():
        table.write_text(text)
        assert message in complaint(home, *words)
    table.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read as a logical table" in complaint(home, *words)
    for name in TOWNS:
        whole = whole.replace(f",{name}\n", f",x{name}\n")
    table.write_text(whole)
    assert "is the logical table of another fleet" in complaint(home, *words)
    assert "no crawler mars can leave: there are ath, ber, lis" in complaint(
        home, "a.example", "--leave", "mars"
    )
    assert "ath cannot join" in complaint(home, "a.example", "--join", "ath")
    everybody = [word for name in TOWNS for word in ("--leave", name)]
    assert "last crawler" in complaint(home, "a.example", *everybody)


def test_a_damaged_table_in_the_store_is_told_and_a_replaced_fleet_starts_anew(home: Path) -> None:
    parted(home, "a.example", "-m", "two-level")
    with Store.open(str(home / "state.db")) as store:
        kept = store.states.get("partition logical table")
        assert kept is not None
        store.states.put("partition logical table", kept[:1000], 1.0)
    _, said = parted(home, "a.example", "-m", "two-level")
    assert "the logical table in the store is damaged: it is made anew" in said
    with Store.open(str(home / "state.db")) as store:
        store.states.put("partition logical table", kept, 1.0)
    for number, name in enumerate(TOWNS):
        invoked("--home", home, "crawler", "add", f"new-{name}", f"30.3.{number}.1")
        invoked("--home", home, "crawler", "remove", name)
    _, said = parted(home, "a.example", "-m", "two-level")
    assert "none of the logical table's crawlers (ath, lis, ber) is in the fleet: it is made anew" in said


# --- grains and plain METIS


def test_sites_of_one_aggregate_or_system_stay_together(home: Path, tmp_path: Path) -> None:
    """From the hierarchy: a customer's subnet belongs to its provider's allocation."""
    for grain, stands in (("aggregate", "allocations of the hierarchy"), ("as", "holders of the hierarchy")):
        words = ("--locate", "-m", "metis-geo", "--grain", grain)
        chosen = owners(home, tmp_path / "parts.csv", *words)
        assert {len({chosen[host(n)] for n in range(town, 30, 3)}) for town in range(3)} == {1}
        assert f"{stands} stand for" in parted(home, *words)[1]


def test_announced_prefixes_come_from_a_file(home: Path, tmp_path: Path) -> None:
    networks = tmp_path / "networks.csv"
    networks.write_text(
        "prefix,as\n20.0.0.0/16,AS64500\n20.1.0.0/16,64500\n20.2.0.0/16,64501\nrot,1\n20.9.0.0/16,x\n"
    )
    words = ("--locate", "-m", "metis-geo", "--networks", networks, "-n", "2", "--store", home / "state.db")
    chosen = owners(home, tmp_path / "parts.csv", *words, "--grain", "as")
    one = {chosen[host(n)] for n in range(30) if n % 3 != 2}
    other = {chosen[host(n)] for n in range(30) if n % 3 == 2}
    assert len(one) == len(other) == 1
    assert one != other
    said = parted(home, *words, "--grain", "aggregate")[1]
    assert "'rot'" in said
    assert "stand for" not in said


def test_a_column_of_the_file_names_systems_and_aggregates(tmp_path: Path) -> None:
    sites = tmp_path / "sites.csv"
    rows = [f"s{n}.example,20.0.{n}.1,38,{20 + n},{64500 + n % 2},20.{n % 2}.0.0/16" for n in range(20)]
    sites.write_text("host,address,latitude,longitude,as,aggregate\n" + "\n".join(rows))
    for grain in ("as", "aggregate"):
        words = ("--sites", sites, "-n", "2", "-m", "metis-geo", "--grain", grain)
        chosen = owners(tmp_path / "none", tmp_path / "parts.csv", *words)
        assert {len({chosen[f"s{n}.example"] for n in range(part, 20, 2)}) for part in range(2)} == {1}


def test_a_grain_of_which_nothing_is_known_is_refused_with_what_helps(tmp_path: Path) -> None:
    for grain in ("as", "aggregate"):
        message = complaint(tmp_path, "a.example", "-n", "2", "--grain", grain)
        assert "--networks FILE with prefix,as" in message
    rot = tmp_path / "rot.csv"
    rot.write_text("nothing,here\n")
    assert "there is no network in it" in complaint(tmp_path, "a.example", "-n", "2", "--networks", rot)
    assert "no number of an autonomous system" in complaint(
        tmp_path, "--sites", _bad_system(tmp_path), "-n", "2"
    )


def _bad_system(folder: Path) -> Path:
    path = folder / "sites.csv"
    path.write_text("host,address,as\na.example,20.0.0.1,many\n")
    return path


def test_plain_multi_objective_metis_is_beside_ours(home: Path) -> None:
    rows, _ = parted(home, "--locate", "--generate-links", "1", "-m", "metis-paper", "-m", "metis-multi")
    assert list(rows) == ["metis-paper", "metis-multi"]
    assert all(row["parts"] == 3 for row in rows.values())
