"""`ipmicra.spark` on PySpark Connect: over Sail, which needs no JVM, or over Spark itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ipmicra.errors import InputError
from tests.table_worlds import home_of_three

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAIL = "pip install -e '.[sail]' runs it without a JVM"
JVM = "IPMICRA_SPARK_JVM=1 runs it, with pyspark and Java 17"

# Names of pyspark's own make it warn of what it will change.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def sail() -> Iterator[SparkSession]:
    if not find_spec("pysail"):
        pytest.skip(SAIL)
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    yield session
    session.stop()
    server.stop()


def jvm() -> Iterator[SparkSession]:
    if os.environ.get("IPMICRA_SPARK_JVM") != "1":
        pytest.skip(JVM)
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module", params=[sail, jvm])
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    yield from request.param()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_of_three(tmp_path_factory.mktemp("home"))


def rows(frame: Any, *columns: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in columns) for row in frame.collect()), key=str)


def test_subnets_are_added_and_nothing_is_lost(spark: SparkSession, home: Path) -> None:
    from ipmicra.spark import with_subnets

    given = [(1, "10.1.2.3"), (2, None), (3, "nowhere"), (4, "11.0.0.1")]
    frame = spark.createDataFrame(given, "id long, ip string")
    found = with_subnets(frame, "ip", hierarchy=home / "hierarchy.ipm", columns=("subnet", "country"))
    assert rows(found, "id", "ip", "subnet", "country") == [
        (1, "10.1.2.3", "10.1.0.0/16", "GR"),
        (2, None, None, None),
        (3, "nowhere", None, None),
        (4, "11.0.0.1", "0.0.0.0/0", None),
    ]


def test_hosts_are_counted_by_subnet(spark: SparkSession, home: Path) -> None:
    from ipmicra.spark import group_by_subnet

    frame = spark.createDataFrame([(f"10.{n % 3}.0.{n}",) for n in range(100)], "ip string")
    found = group_by_subnet(frame, hierarchy=home / "hierarchy.ipm")
    assert rows(found, "subnet", "hosts") == [
        ("10.0.0.0/16", 34),
        ("10.1.0.0/16", 33),
        ("10.2.0.0/16", 33),
    ]


def test_owners_are_by_assignment_then_delegation_then_balance(spark: SparkSession, home: Path) -> None:
    from ipmicra.spark import with_owners

    given = [("own.example", "10.0.0.9"), ("b", "10.0.3.3"), ("c", "10.3.0.7"), ("d", None)]
    found = with_owners(spark.createDataFrame(given, "host string, ip string"), "host", home=home)
    assert rows(found, "host", "crawler", "source") == [
        ("b", "ber", "delegation"),
        ("c", "ath", "balance"),
        ("d", None, None),
        ("own.example", "cdg", "assignment"),
    ]


def test_mistakes_are_told_before_anything_runs(spark: SparkSession, home: Path) -> None:
    from ipmicra.spark import with_subnets

    frame = spark.createDataFrame([("10.0.0.1", "x")], "ip string, country string")
    with pytest.raises(InputError, match="there is no column address: there are ip, country"):
        with_subnets(frame, "address", hierarchy=home / "hierarchy.ipm")
    with pytest.raises(InputError, match="has a column country already"):
        with_subnets(frame, hierarchy=home / "hierarchy.ipm")
    with pytest.raises(InputError, match="there are subnet, netname"):
        with_subnets(frame, hierarchy=home / "hierarchy.ipm", columns=("colour",))
