"""Texts as values: what makes no sense is a finding and counts as missing."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from ipmicra.edge.files.fields import Fields
from ipmicra.model.delegation import Evidence
from ipmicra.model.location import Location


def test_values_are_read() -> None:
    findings: list[str] = []
    record = {
        "address": "192.0.2.1",
        "latitude": "1.5",
        "longitude": "-2",
        "country": "gr",
        "n": "3",
        "kind": "Probed",
    }
    fields = Fields(record, "here", findings.append)
    assert fields.address() == ip_address("192.0.2.1")
    assert fields.place(5.0, fields.country()) == Location(
        latitude=1.5, longitude=-2.0, radius_km=5.0, country="GR"
    )
    assert (fields.whole("n"), fields.number("none"), fields.text("none", "n")) == (3, None, "3")
    assert fields.word(Evidence, "kind") is Evidence.PROBED
    assert findings == []


@pytest.mark.parametrize(
    ("record", "finding"),
    [
        ({"latitude": "95", "longitude": "5"}, "latitude '95' is not between -90 and 90"),
        ({"latitude": "5"}, "latitude and longitude go together"),
        ({"latitude": "x", "longitude": "5"}, "latitude 'x' is no number"),
        ({"latitude": "nan", "longitude": "5"}, "latitude 'nan' is not between -90 and 90"),
        ({"latitude": "1", "longitude": "5", "radius_km": "0"}, "radius_km must be above zero"),
    ],
)
def test_place_that_makes_no_sense_is_a_finding(record: dict[str, str], finding: str) -> None:
    findings: list[str] = []
    Fields(record, "file, line 2", findings.append).place(5.0)
    assert findings == [f"file, line 2: {finding}"]


@pytest.mark.parametrize("text", ["-3", "1e99", "inf", "nan"])
def test_number_without_a_bound_of_its_own_is_refused_without_naming_ours(text: str) -> None:
    findings: list[str] = []
    assert Fields({"load": text}, "line 2", findings.append).number("load") is None
    assert findings == [f"line 2: load {text!r} is not a number of 0 or more"]
