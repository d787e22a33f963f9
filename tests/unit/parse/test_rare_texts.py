"""Columns of texts that few registrations have: right for any order of chunks and dumps."""

from __future__ import annotations

from itertools import product

import pytest

from ipmicra.model.registry import Registry
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.fields import Text
from ipmicra.parse.parser import Parser

CHUNKS = {
    "plain": b"inetnum: 10.0.0.0/24\nnetname: A\n\ninetnum: 10.0.1.0/24\nnetname: B\n",
    "city": b"inetnum: 10.0.2.0/24\ncity: Lima\n\ninet6num: 2001:db8::/32\nnetname: C\n",
    "geoloc": b"inetnum: 10.0.3.0/24\ngeoloc: 1 2\n\ninetnum: 10.0.4.0/24\ncity: Quito\ngeofeed: https://g\n",
}
TEXTS = {
    "plain": [("", "", ""), ("", "", "")],
    "city": [("", "", "Lima")],
    "geoloc": [("1 2", "", ""), ("", "https://g", "Quito")],
}
"""Geoloc, geofeed and address of the IPv4 rows of each chunk."""
ORDERS = list(product(CHUNKS, repeat=3))


def add(gatherer: kernels.Gatherer, *names: str) -> None:
    parser = Parser(Dialect.RPSL, Registry.NONE, gatherer)
    for name in names:
        parser.add(parser.parse(CHUNKS[name], len(CHUNKS[name]), kernels.Sheet()))


def rare(columns: Columns) -> list[tuple[str, ...]]:
    kinds = [columns.rows4.texts[kind] for kind in (Text.GEOLOC, Text.GEOFEED, Text.ADDRESS)]
    return [
        tuple(columns.texts.spell(int(kind[row])) if len(kind) else "" for kind in kinds)
        for row in range(len(columns.rows4))
    ]


def wanted(*names: str) -> list[tuple[str, ...]]:
    return [row for name in names for row in TEXTS[name]]


@pytest.mark.parametrize("names", ORDERS)
def test_chunks_in_any_order_keep_their_texts(names: tuple[str, ...]) -> None:
    gatherer = kernels.Gatherer()
    add(gatherer, *names)
    columns = Columns.of(gatherer)
    assert rare(columns) == wanted(*names)
    assert not any(len(columns.rows6.texts[kind]) for kind in (Text.GEOLOC, Text.GEOFEED, Text.ADDRESS))


@pytest.mark.parametrize("names", ORDERS)
def test_dumps_in_any_order_keep_their_texts(names: tuple[str, ...]) -> None:
    gatherer = kernels.Gatherer()
    for name in names:
        dump = kernels.Gatherer()
        add(dump, name)
        gatherer.join(dump)
    assert rare(Columns.of(gatherer)) == wanted(*names)


@pytest.mark.parametrize("names", ORDERS)
def test_dropped_dump_leaves_nothing_behind(names: tuple[str, ...]) -> None:
    gatherer = kernels.Gatherer()
    first, dropped, last = names
    add(gatherer, first)
    add(gatherer, dropped)
    gatherer.drop()
    add(gatherer, last)
    assert rare(Columns.of(gatherer)) == wanted(first, last)
