"""Columns of a hierarchy at the sizes where their form changes."""

from __future__ import annotations

import datetime
from itertools import product
from string import ascii_uppercase

import pytest

from ipmicra.hierarchy import format as sections
from ipmicra.native import kernels
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.fields import Text
from ipmicra.parse.parser import parse_bytes
from tests.reference.fast_building import built

COUNTRIES = ["".join(letters) for letters in product(ascii_uppercase, repeat=2)]


def addresses(count: int) -> list[str]:
    return [f"10.{i >> 8}.{i & 255}.0" for i in range(count)]


@pytest.mark.parametrize("count", [254, 255, 256, 257, 676])
def test_as_many_countries_as_there_are_letters_fit(count: int) -> None:
    lines = [
        f"inetnum: {each}/24\ncountry: {country}\n"
        for each, country in zip(addresses(count), COUNTRIES, strict=False)
    ]
    hierarchy = built("\n".join(lines))
    assert [hierarchy.lookup(each).country for each in addresses(count)] == COUNTRIES[:count]
    assert hierarchy._sections.array(sections.COUNTRY).itemsize == (1 if count < 256 else 2)


@pytest.mark.parametrize("count", [254, 255, 256, 65535, 65536])
def test_any_number_of_statuses_fits(count: int) -> None:
    hierarchy = built(
        "\n".join(f"inetnum: {each}/24\nstatus: S{i}\n" for i, each in enumerate(addresses(count)))
    )
    asked = [0, 1, 253, count - 2, count - 1]
    assert [hierarchy.lookup(addresses(count)[i]).status for i in asked] == [f"S{i}" for i in asked]


@pytest.mark.parametrize("size", [1, 126, 127, 128, 129, 300, 1000])
def test_names_of_any_length_come_back(size: int) -> None:
    hierarchy = built(f"inetnum: 10.0.0.0/8\nnetname: {'n' * size}\ndescr: {'d' * size}\n")
    subnet = hierarchy.lookup("10.0.0.1")
    assert subnet.netname == "n" * size
    assert subnet.organisation is not None
    assert subnet.organisation.name == "d" * size


def test_names_over_1000_bytes_are_cut_between_characters() -> None:
    subnet = built(f"inetnum: 10.0.0.0/8\nnetname: x{'é' * 600}\n").lookup("10.0.0.1")
    assert subnet.netname == "x" + "é" * 499


def test_latin_1_comes_back_as_text() -> None:
    assert built(b"inetnum: 10.0.0.0/8\nnetname: Gr\xf6\xdfe\n").lookup("10.0.0.1").netname == "Größe"


@pytest.mark.parametrize("day", ["1970-01-01", "2000-02-29", "2148-12-31"])
def test_dates_come_back(day: str) -> None:
    subnet = built(f"inetnum: 10.0.0.0/8\nlast-modified: {day}T00:00:00Z\n").lookup("10.0.0.1")
    assert subnet.date == datetime.date.fromisoformat(day)


def test_geoloc_and_geofeed_are_kept_apart() -> None:
    text = "inetnum: 10.0.0.0/8\ngeoloc: 1 2\n\ninetnum: 11.0.0.0/8\nremarks: Geofeed https://example.org/g\n"
    hierarchy = built(text + "\ninet6num: ::/3\ngeoloc: 3 4\ngeofeed: https://example.org/6\n")
    found = [hierarchy.lookup(each) for each in ("10.0.0.1", "11.0.0.1", "12.0.0.1", "::1")]
    assert [(each.geoloc, each.geofeed) for each in found] == [
        ("1 2", None),
        (None, "https://example.org/g"),
        (None, None),
        ("3 4", "https://example.org/6"),
    ]


def colliding_pair() -> tuple[bytes, bytes]:
    """Search two texts with the same hash: among 200,000 of them some pairs share 32 bits."""
    seen: dict[int, bytes] = {}
    for i in range(1_000_000):
        text = b"NET-%d" % i
        other = seen.setdefault(kernels.hash_bytes(text), text)
        if other != text:
            return other, text
    raise AssertionError("no two texts have the same hash")


def test_texts_with_the_same_hash_stay_apart() -> None:
    one, other = colliding_pair()
    names = [one, other, one, other]
    dump = b"\n".join(b"inetnum: 10.0.%d.0/24\nnetname: %s\n" % (i, name) for i, name in enumerate(names))
    columns = parse_bytes(dump, Dialect.RPSL)
    numbers = columns.rows4.texts[Text.NETNAME].tolist()
    assert numbers == [1, 2, 1, 2]
    assert [columns.texts.spell(number).encode() for number in numbers] == names


def test_names_with_the_same_hash_stay_apart_in_a_hierarchy() -> None:
    one, other = (each.decode() for each in colliding_pair())
    hierarchy = built(f"inetnum: 10.0.0.0/8\nnetname: {one}\n\ninetnum: 11.0.0.0/8\nnetname: {other}\n")
    assert [hierarchy.lookup(each).netname for each in ("10.0.0.1", "11.0.0.1")] == [one, other]


def test_many_names_outgrow_the_first_table() -> None:
    count = 9000
    hierarchy = built(
        "\n".join(
            f"inetnum: {each}/24\nnetname: N{i % 5000}\norg: O{i}\n"
            for i, each in enumerate(addresses(count))
        )
    )
    assert len(hierarchy.organisations) == count
    for i in range(0, count, 997):
        subnet = hierarchy.lookup(addresses(count)[i])
        assert subnet.netname == f"N{i % 5000}"
        assert subnet.organisation is not None
        assert subnet.organisation.handle == f"O{i}"
