"""Round trips in few bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ipmicra.delegate.policies.predict.trips import Trips

trips = st.dictionaries(st.integers(0, 2**31), st.floats(0, 1e6), max_size=8)


@given(kept=st.dictionaries(st.integers(), trips))
def test_what_is_put_is_what_is_found(kept: dict[int, dict[int, float]]) -> None:
    found = Trips()
    for key, rtts_ms in kept.items():
        found.put(key, {1: 9.0})
        found.put(key, rtts_ms)
    assert len(found) == len(kept)
    for key, rtts_ms in kept.items():
        assert list(found.of(key).items()) == list(rtts_ms.items())


def test_nothing_is_known_of_other_keys() -> None:
    assert Trips().of(7) == {}
