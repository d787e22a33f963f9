"""When observations of downloads speak against a measured round trip."""

from __future__ import annotations

import pytest

from ipmicra.delegate.drift import DriftConfig, Seen, drift_of

CONFIG = DriftConfig()


@pytest.mark.parametrize(
    ("seen", "measured_ms", "before_ms", "expected"),
    [
        (Seen(pages=9, first_byte_ms=50.0), 40.0, [], None),
        (Seen(pages=9, first_byte_ms=33.0), 40.0, [], None),
        (Seen(pages=9, first_byte_ms=31.0), 40.0, [], "too soon for a round trip of 40.0 ms"),
        (Seen(pages=4, first_byte_ms=31.0), 40.0, [], None),
        (Seen(pages=9, first_byte_ms=500.0), 40.0, [], None),
        (Seen(pages=9, first_byte_ms=500.0), 40.0, [60.0], "where 60.0 ms were usual"),
        (Seen(pages=9, first_byte_ms=500.0), None, [60.0, 450.0, 480.0], None),
        (Seen(pages=9, first_byte_ms=29.0), None, [1.0], None),
        (Seen(pages=9, first_byte_ms=100.0), None, [1.0] * 9 + [90.0] * 5, None),
        (Seen(failures=2), 40.0, [], None),
        (Seen(failures=3), 40.0, [], "3 requests in a row got no answer"),
        (Seen(pages=1, first_byte_ms=50.0, failures=9), 40.0, [], None),
    ],
)
def test_drift(seen: Seen, measured_ms: float | None, before_ms: list[float], expected: str | None) -> None:
    found = drift_of(seen, measured_ms, before_ms, CONFIG)
    assert (found is None) if expected is None else (found is not None and expected in found)
