"""`ipmicra assign FILE.parquet -o OUT.parquet`: owners of whole tables, by what the store knows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from ipmicra.app.assign import subnets
from ipmicra.edge.hierarchy_file import Hierarchy
from ipmicra.edge.store.store import Store
from tests.cli.command_line import built_file, invoked, ran, told
from tests.table_worlds import home_of_three

FAR_S = 4e9


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_of_three(tmp_path_factory.mktemp("home"))


def hosts(folder: Path, addresses: list[str | None], names: list[str] | None = None) -> Path:
    path = folder / "hosts.parquet"
    names = names or [f"h{number}.example" for number in range(len(addresses))]
    parquet.write_table(pa.table({"host": names, "ip": addresses}), path)
    return path


def test_owner_is_by_assignment_then_delegation_then_balance(home: Path, tmp_path: Path) -> None:
    source = hosts(tmp_path, ["10.0.0.9", "10.0.3.3", "10.1.0.7", None], ["own.example", "b", "c", "d"])
    out = tmp_path / "out.parquet"
    done = ran("--home", home, "assign", source, "-o", out, "--json")
    assert done.returncode == 0, told(done)
    found = parquet.read_table(out).to_pydict()
    assert found["crawler"] == [
        "cdg",
        "ber",
        "ath",
        None,
    ]  # the third is nearer to ber, which has one already
    assert found["source"] == ["assignment", "delegation", "balance", None]
    assert (json.loads(done.stdout)["column"], json.loads(done.stdout)["missing"]) == ("ip", 1)
    assert "ath: 1 hosts" in told(done)


def test_hosts_of_one_subnet_stay_together_and_load_is_balanced(home: Path, tmp_path: Path) -> None:
    addresses: list[str | None] = [f"10.{1 + n % 6}.{n % 200}.{n % 250}" for n in range(3000)]
    out = tmp_path / "out.parquet"
    assert invoked("--home", home, "assign", hosts(tmp_path, addresses), "-o", out).exit_code == 0
    crawlers = parquet.read_table(out)["crawler"].to_pylist()
    nets = {address and address.rsplit(".", 2)[0] for address in addresses}
    of_net = {
        net: {
            one
            for one, address in zip(crawlers, addresses, strict=True)
            if address and address.startswith(f"{net}.")
        }
        for net in nets
    }
    assert {len(owners) for owners in of_net.values()} == {1}
    assert Counter(crawlers) == {"ath": 1000, "ber": 1000, "cdg": 1000}
    # every subnet is at its nearest crawler, since that is fair here
    assert of_net["10.3"] == {"ath"}
    with Store.open(f"sqlite:///{home}/state.db") as store:
        assert [one.host for one in store.assignments.all()] == ["own.example"]


def test_small_subnets_are_merged_into_their_parents(home: Path) -> None:
    with Hierarchy.open(home / "hierarchy.ipm") as hierarchy:
        counts = np.zeros(len(hierarchy), np.int64)
        rows = [hierarchy.row_of(f"10.{number}.0.1") for number in range(8)]
        counts[rows] = [1, 1, 1, 1, 1, 1, 50, 60]
        weights, of_row = subnets._merged(hierarchy, counts, most=3)
        assert weights[rows].tolist() == [0, 0, 0, 0, 0, 0, 50, 60]
        assert weights[0] == 6
        assert of_row[rows].tolist() == [0] * 6 + rows[6:]
        weights, of_row = subnets._merged(hierarchy, counts, most=1)
        assert weights.sum() == weights[0] == counts.sum()


def test_no_host_is_lost_when_subnets_and_their_parents_are_merged_at_once(tmp_path: Path) -> None:
    """Each row's hosts are counted where the row went, however many generations moved up together."""
    nested = "".join(
        f"inetnum: 10.{16 * n}.0.0 - 10.{16 * n + 15 - m}.255.255\nnetname: N{n}-{m}\n\n"
        for n in range(9)
        for m in range(6)
    )
    with Hierarchy.open(built_file(tmp_path, nested)) as hierarchy:
        rng = np.random.default_rng(5)
        for most in (1, 2, 5):
            counts = rng.integers(0, 3, len(hierarchy))
            weights, of_row = subnets._merged(hierarchy, counts, most)
            assert np.bincount(of_row, counts, len(counts)).tolist() == weights.tolist()
            assert weights[of_row[counts > 0]].min() > 0


def test_other_options_are_refused_with_a_table(home: Path, tmp_path: Path) -> None:
    source = hosts(tmp_path, ["10.0.0.9"])
    done = ran("--home", home, "assign", source, "-o", tmp_path / "o.parquet", "--backend", "can")
    assert done.returncode == 2
    assert "nothing is stored" in told(done)
