"""Round trips between crawlers, measured by a coordinator: it alone reaches agents that only call out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ipmicra.app.describe.fleet import describe_sample
from ipmicra.app.fleet.measuring import measured, plan_mutual
from ipmicra.app.probe import BUDGET, ProbeOptions
from ipmicra.app.serve.coordinator import Coordinator
from ipmicra.app.serve.refusals import RefusedError
from ipmicra.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureWish:
    """What an operator wants to have measured."""

    names: Sequence[str] = ()
    """Crawlers from and to which; none means all."""
    port: int | None = None
    only_missing: bool = False
    is_dry: bool = False
    """Whether only the cost is wanted."""


async def measure_fleet_here(coordinator: Coordinator, wish: MeasureWish) -> dict[str, Any]:
    """Let agents measure each other; return the samples, what they cost, and who cannot be measured."""
    fleet, store, options = coordinator.fleet(), coordinator.deciding.store, coordinator.deciding.options
    try:
        plan = plan_mutual(fleet, store, wish.names, port=wish.port, only_missing=wish.only_missing)
    except InputError as error:
        raise RefusedError("bad-input", str(error)) from error
    found: dict[str, Any] = {
        "cost": plan.cost(),
        "probes": len(plan.probes),
        "samples": [],
        "unmeasurable": [],
    }
    if wish.is_dry:
        return found
    probing = ProbeOptions(desk=replace(options.desk, budget=BUDGET), access=options.access)
    report = await measured(fleet, store, plan, probing)
    found["samples"] = [describe_sample(target, sample) for target, sample in report.samples]
    found["unmeasurable"] = report.unmeasurable
    return found
