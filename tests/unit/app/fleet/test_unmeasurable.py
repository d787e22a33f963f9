"""Crawlers that cannot be measured from outside."""

from __future__ import annotations

from ipaddress import ip_address

from ipmicra.app.fleet.measuring import unmeasurable
from ipmicra.model.sample import Loss, Sample


def sample(rtt_ms: float | None, loss: Loss | None = None) -> Sample:
    return Sample(crawler="fra", address=ip_address("198.51.100.1"), rtt_ms=rtt_ms, loss=loss)


def test_crawler_that_never_answers_is_unmeasurable() -> None:
    samples = [
        ("nat", sample(None, Loss.TIMEOUT)),
        ("nat", sample(None, Loss.UNREACHABLE)),
        ("nyc", sample(None, Loss.TIMEOUT)),
        ("nyc", sample(80.0)),
    ]
    assert unmeasurable(samples) == ["nat"]


def test_losses_of_our_own_tell_nothing_about_a_crawler() -> None:
    ours = (Loss.AGENT, Loss.BUDGET, Loss.RATE_LIMITED, Loss.REFUSED_ORDER)
    assert unmeasurable([("nat", sample(None, loss)) for loss in ours]) == []
