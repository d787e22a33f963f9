"""`ipmicra lookup FILE.parquet -o OUT.parquet`: whole tables, nothing lost, nothing half-written."""

from __future__ import annotations

import json
import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from ipmicra.edge.columnar import parquet as writing
from tests.cli.command_line import built_file, invoked, ran, told

TEXTS = ["10.1.0.5", "10.9.9.9", None, "2001:db8::7", "nowhere", "11.0.0.1", " 10.1.0.5 ", "::ffff:10.1.0.5"]
SUBNETS = [
    *("10.1.0.0 - 10.1.2.255", "10.0.0.0/8", None, "2001:db8::/32", None, "0.0.0.0/0"),
    *("10.1.0.0 - 10.1.2.255", "10.1.0.0 - 10.1.2.255"),
]


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_file(tmp_path_factory.mktemp("hierarchy"))


def written(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path)
    return path


def read(path: Path) -> dict[str, list[Any]]:
    return parquet.ParquetFile(path).read().to_pydict()  # type: ignore[no-any-return]


def test_columns_are_added_and_none_is_lost(tmp_path: Path, hierarchy: Path) -> None:
    nested = [{"n": [1, 2]}] * len(TEXTS)
    source = written(tmp_path / "a.parquet", id=list(range(len(TEXTS))), ip=TEXTS, extra=nested)
    out = tmp_path / "b.parquet"
    done = ran("lookup", source, "-o", out, "--hierarchy", hierarchy, "--json")
    assert done.returncode == 0, told(done)
    found = read(out)
    assert list(found)[:3] == ["id", "ip", "extra"]
    assert (found["ip"], found["extra"], found["subnet"]) == (TEXTS, nested, SUBNETS)
    assert found["organisation"][:2] == ["Someone else", "Alpha Carrier"]
    assert found["country"][:4] == [None, "GR", None, None]
    assert found["registry"][1] == "ripe"
    report = json.loads(done.stdout)
    assert (report["rows"], report["missing"], report["column"]) == (8, 2, "ip")
    assert "reading column ip" in told(done)
    assert "2 of 8 rows" in told(done)


@pytest.mark.parametrize("kind", ["binary", "large_string", "dictionary", "fixed", "mixed", "number"])
def test_addresses_may_be_texts_bytes_or_numbers(tmp_path: Path, hierarchy: Path, kind: str) -> None:
    texts = ["10.1.0.5", None, "10.9.9.9", "10.1.0.5"]
    packed = [text and ip_address(text).packed for text in texts]
    wide = [text and ip_address(f"::ffff:{text}").packed for text in texts]
    column = {
        "binary": pa.array(packed, pa.binary()),
        "large_string": pa.array(texts, pa.large_string()),
        "dictionary": pa.array(texts).dictionary_encode(),
        "fixed": pa.array(wide, pa.binary(16)),
        "mixed": pa.array([packed[0], b"odd", wide[2], packed[3]], pa.large_binary()),
        "number": pa.array([text and int(ip_address(text)) for text in texts], pa.int64()),
    }[kind]
    source, out = written(tmp_path / "a.parquet", peer=column), tmp_path / "b.parquet"
    result = invoked(
        *("lookup", source, "-o", out, "--hierarchy", hierarchy, "--column", "peer", "--columns", "subnet")
    )
    assert result.exit_code == 0, result.output
    assert read(out)["subnet"] == [SUBNETS[0], None, SUBNETS[1], SUBNETS[0]]


def test_table_is_what_look_ups_one_by_one_give(
    tmp_path: Path, hierarchy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small batches, and dictionaries that are cut to what a batch uses."""
    monkeypatch.setattr(writing, "MOST_ROWS", 3)
    monkeypatch.setattr(writing, "FEWEST_ROWS", 1)
    monkeypatch.setattr("ipmicra.edge.columnar.subnets.SHORT", 1)
    texts = [f"10.{number % 5}.{number % 3}.1" for number in range(20)] + ["2001:db8::1", "12.0.0.1"]
    source, out = written(tmp_path / "a.parquet", ip=texts), tmp_path / "b.parquet"
    assert invoked("lookup", source, "-o", out, "--hierarchy", hierarchy).exit_code == 0
    one_by_one = json.loads(invoked("lookup", *texts, "--hierarchy", hierarchy, "--json").stdout)
    narrowest = [one["lineage"][-1] for one in one_by_one]
    assert read(out)["subnet"] == [one["prefix"] or f"{one['first']} - {one['last']}" for one in narrowest]
    assert read(out)["netname"] == [one["netname"] for one in narrowest]
    assert read(out)["status"] == [one["status"] for one in narrowest]


def test_partitions_of_a_folder_stay_where_they_are(tmp_path: Path, hierarchy: Path) -> None:
    source = tmp_path / "in"
    written(source / "day=1" / "a.parquet", ip=["10.1.0.5"])
    written(source / "day=2" / "b.parquet", ip=["10.9.9.9", "2001:db8::7"])
    (source / "_SUCCESS").touch()
    out = tmp_path / "out"
    done = json.loads(ran("lookup", source, "-o", out, "--hierarchy", hierarchy, "--json").stdout)
    assert (done["rows"], done["files"]) == (3, 2)
    table = parquet.read_table(out)
    assert table["day"].to_pylist() == [1, 2, 2]
    assert table["subnet"].to_pylist() == [SUBNETS[0], SUBNETS[1], SUBNETS[3]]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in", "out"]


def test_interrupted_folder_resumes_behind_its_complete_files(tmp_path: Path, hierarchy: Path) -> None:
    """The second file is damaged: the first stays, and is not done again once the second is repaired."""
    source, out = tmp_path / "in", tmp_path / "out"
    written(source / "a.parquet", ip=["10.1.0.5"])
    second = written(source / "b.parquet", ip=["10.9.9.9"] * 1000)
    sound = second.read_bytes()
    data_at = sound.index(b"PAR1") + 4
    damaged = sound[:data_at] + bytes(60) + sound[data_at + 60 :]
    second.write_bytes(damaged)
    at = second.stat().st_mtime_ns
    failed = ran("lookup", source, "-o", out, "--hierarchy", hierarchy)
    assert failed.returncode == 2
    assert "b.parquet cannot be read as Parquet" in told(failed)
    assert not out.exists()
    part = tmp_path / ".out.part"
    assert (part / "a.parquet").exists()
    first = (part / "a.parquet").stat().st_ino
    second.write_bytes(sound)
    os.utime(second, ns=(at, at))
    done = json.loads(ran("lookup", source, "-o", out, "--hierarchy", hierarchy, "--json").stdout)
    assert (done["resumed_files"], done["rows"]) == (1, 1001)
    assert (out / "a.parquet").stat().st_ino == first
    assert not part.exists()


def test_output_that_exists_stays_whole_until_the_new_one_is_complete(
    tmp_path: Path, hierarchy: Path
) -> None:
    source, out = written(tmp_path / "a.parquet", ip=["example.org"]), written(tmp_path / "b.parquet", x=[1])
    done = ran("lookup", source, "-o", out, "--hierarchy", hierarchy)
    assert done.returncode == 2
    assert "holds no addresses ('example.org'" in told(done)
    assert read(out) == {"x": [1]}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]


def test_prefix_keeps_columns_apart(tmp_path: Path, hierarchy: Path) -> None:
    source, out = written(tmp_path / "a.parquet", ip=["10.1.0.5"], country=["XX"]), tmp_path / "b.parquet"
    refused = ran("lookup", source, "-o", out, "--hierarchy", hierarchy)
    assert refused.returncode == 2
    assert "--prefix" in told(refused)
    assert ran("lookup", source, "-o", out, "--hierarchy", hierarchy, "--prefix", "net_").returncode == 0
    assert read(out)["country"] == ["XX"]
    assert read(out)["net_netname"] == ["NO-PREFIX"]


def test_empty_tables_keep_their_columns(tmp_path: Path, hierarchy: Path) -> None:
    source = written(tmp_path / "a.parquet", ip=pa.array([], pa.string()))
    out = tmp_path / "b.parquet"
    assert ran("lookup", source, "-o", out, "--hierarchy", hierarchy).returncode == 0
    assert set(read(out)) == {"ip", "subnet", "netname", "organisation", "registry", "country", "status"}


def test_compression_and_metadata_stay_as_they_were(tmp_path: Path, hierarchy: Path) -> None:
    table = pa.table({"ip": ["10.1.0.5"]}).replace_schema_metadata({"made": "by hand"})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    out = tmp_path / "b.parquet"
    assert ran("lookup", tmp_path / "a.parquet", "-o", out, "--hierarchy", hierarchy).returncode == 0
    file = parquet.ParquetFile(out)
    codecs = {file.metadata.row_group(0).column(i).compression for i in range(7)}
    assert codecs == {"ZSTD"}
    assert file.schema_arrow.metadata[b"made"] == b"by hand"
