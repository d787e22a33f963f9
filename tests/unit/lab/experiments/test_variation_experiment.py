"""Variation of round trips and rates, by hand and in an invented day."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra import InputError
from ipmicra.lab.experiments.variation import (
    Day,
    DayPlan,
    invent_day,
    variation_claims,
    variation_of,
    variation_rows,
)


def test_coefficients_are_taken_over_crawlers_of_medians_and_over_time_of_each_crawler() -> None:
    rtt_ms = np.array([[[10.0, 10.0, 40.0]], [[30.0, 30.0, 30.0]]])  # two crawlers, one host, three times
    rate = np.array([[[1.0, 2.0, 3.0]], [[2.0, 2.0, 2.0]]])
    found = variation_of(Day(rtt_ms=rtt_ms, rate=rate))
    np.testing.assert_allclose(found.rtt_between_crawlers, [10 / 20])  # medians 10 and 30
    np.testing.assert_allclose(found.rate_between_crawlers, [0.0])
    assert found.rtt_over_time.tolist() == pytest.approx([np.std([10, 10, 40]) / 20, 0.0])
    assert [claim.is_reproduced for claim in variation_claims(found)] == [True, False]
    assert found.answer_ping is None


def test_hosts_that_do_not_answer_ping_count_for_its_share_only() -> None:
    rtt_ms = np.array([[[11.0], [20.0]], [[22.0], [20.0]]])
    ping_ms = np.array([[[10.0], [np.nan]], [[20.0], [np.nan]]])
    found = variation_of(Day(rtt_ms=rtt_ms, rate=rtt_ms, ping_ms=ping_ms))
    assert found.answer_ping == 0.5
    np.testing.assert_allclose(found.http_by_ping, [0.1, 0.1])
    assert variation_rows(found)[-1]["variation"] == "HTTP by ping"


def test_an_invented_day_is_the_same_for_the_same_seed_and_rates_stay_under_the_line() -> None:
    one, other = (invent_day(DayPlan(hosts=50), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.rate, other.rate)
    assert (one.rate <= 1000).all()  # bits per millisecond of a line of 1 Mb/s
    assert one.ping_ms is not None
    assert (np.isnan(one.ping_ms) | (one.ping_ms <= one.rtt_ms)).all()


def test_a_single_measurement_cannot_vary() -> None:
    alone = np.ones((1, 1, 1))
    with pytest.raises(InputError, match="nothing can vary"):
        variation_of(Day(rtt_ms=alone, rate=alone))
