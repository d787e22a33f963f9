"""What answers are worth, by how they were reached."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

from ipmicra.delegate.replay.answers import trust_of
from ipmicra.delegate.replay.quality import SiteOutcome

RIGHT = SiteOutcome(0, "a", 0, 5.0, 0.0, True, 3, "inherited", 0.93)
WRONG = replace(RIGHT, excess_ms=4.0)


def test_answers_without_a_probe_are_counted_by_evidence() -> None:
    geolocated = replace(RIGHT, evidence="geolocated")
    probed = replace(RIGHT, probes=2, evidence="probed")
    record = trust_of([[RIGHT, WRONG, geolocated], [probed, probed]]).record()
    assert (record["unprobed"], record["unprobed_right"]) == (0.6, 0.6667)
    assert record["unprobed_by_evidence"] == {
        "geolocated": {"answers": 1, "right": 1.0},
        "inherited": {"answers": 2, "right": 0.5},
    }


def test_calibration_sets_what_was_said_beside_what_was_right() -> None:
    sure = replace(RIGHT, chance=1.0)
    record = trust_of([[RIGHT, RIGHT, WRONG, sure]]).record()
    assert record["calibration"] == [
        {"from": 0.9, "to": 0.95, "said": 0.93, "answers": 3, "right": 0.6667},
        {"from": 0.99, "to": 1.0, "said": 1.0, "answers": 1, "right": 1.0},
    ]


def test_answers_that_cannot_be_judged_are_left_out() -> None:
    unknown = replace(RIGHT, excess_ms=nan)
    lost = replace(RIGHT, excess_ms=inf)
    record = trust_of([[unknown, lost]]).record()
    assert record["unprobed_by_evidence"] == {"inherited": {"answers": 1, "right": 0.0}}


def test_policies_that_do_not_say_have_no_calibration() -> None:
    record = trust_of([[replace(RIGHT, chance=None, evidence=None)]]).record()
    assert (record["calibration"], record["unprobed_right"]) == ([], None)
