"""Believe an agent as far as the exchange with it allows: its stopwatch and clock are not ours."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ipmicra.model.sample import Loss, Sample
from ipmicra.wire.limits import LIMITS
from ipmicra.wire.messages import ProbeOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefConfig:
    """Limits of what can be true."""

    clock_slack_s: float = 30.0
    """A clock that differs by more is wrong: NTP keeps well within a second, this allows for a poor one."""
    elapsed_slack_ms: float = 5.0
    """Differences between two machines' stopwatches that prove nothing."""
    least_ms: float = 0.001
    """The unit in which kernels measure a handshake. On loopback, where nothing is shorter, one takes 5 units
    or more; what is below one unit was not measured at all."""


def believed(
    sample: Sample,
    order: ProbeOrder,
    elapsed_ms: float | None,
    window_s: tuple[float, float],
    config: BeliefConfig,
) -> Sample:
    """Return a sample as far as it can be believed.

    No round trip is shorter than can be measured, none lasts longer than the whole exchange with the agent
    did, and one of another address than the order's is no answer. A time of day outside the exchange is
    replaced by our own.
    """
    if order.address is not None and int(order.address) and sample.address != order.address:
        return _unbelievable(sample, order, f"it probed {sample.address} instead", window_s[1])
    if sample.rtt_ms is not None and sample.rtt_ms < config.least_ms:
        detail = f"it claims {sample.rtt_ms:.3g} ms, which cannot be measured"
        return _unbelievable(sample, order, detail, window_s[1])
    total_ms = sum(sample.all_ms)
    if elapsed_ms is not None and total_ms > elapsed_ms + config.elapsed_slack_ms:
        detail = f"it claims {total_ms:.0f} ms of round trips within {elapsed_ms:.0f} ms"
        return _unbelievable(sample, order, detail, window_s[1])
    earliest_s = window_s[0] - config.clock_slack_s if elapsed_ms is not None else 0.0
    if earliest_s <= sample.taken_s <= window_s[1] + config.clock_slack_s:
        return sample
    note = f"the agent's clock is off by {sample.taken_s - window_s[1]:+.0f} s"
    detail = f"{sample.detail}; {note}" if sample.detail else note
    return replace(sample, taken_s=window_s[1], detail=detail[: LIMITS.max_detail])


def _unbelievable(sample: Sample, order: ProbeOrder, detail: str, now_s: float) -> Sample:
    return Sample(
        crawler=sample.crawler,
        address=order.address or sample.address,
        rtt_ms=None,
        loss=Loss.AGENT,
        detail=f"not believed: {detail}"[: LIMITS.max_detail],
        taken_s=now_s,
    )
