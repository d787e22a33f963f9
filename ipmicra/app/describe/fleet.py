"""Crawlers and their samples as plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipmicra.app.describe.texts import time_text
from ipmicra.model.address import range_text
from ipmicra.model.membership import state_word
from ipmicra.model.sample import Sample

if TYPE_CHECKING:
    from ipmicra.edge.store.ports import Member


def describe_member(member: Member) -> dict[str, Any]:
    """Describe a crawler."""
    crawler, place, capacity = member.crawler, member.crawler.location, member.crawler.capacity
    return {
        "name": crawler.name,
        "address": str(crawler.address),
        "subnet": _subnet_text(member),
        "agent_url": crawler.agent_url,
        "state": state_word(crawler.state),
        "joined": time_text(crawler.joined_s),
        "changed": time_text(crawler.changed_s),
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
        "radius_km": place.radius_km if place else None,
        "city": place.city if place else None,
        "country": place.country if place else None,
        "labels": crawler.labels,
        "bandwidth_mbps": capacity.bandwidth_mbps,
        "memory_gb": capacity.memory_gb,
        "max_pieces": capacity.max_pieces,
        "connections": capacity.connections,
    }


def _subnet_text(member: Member) -> str | None:
    return None if member.first is None or member.last is None else range_text(member.first, member.last)


def describe_sample(target: str, sample: Sample) -> dict[str, Any]:
    """Describe a sample of a target."""
    timings = sample.timings
    return {
        "target": target,
        "address": str(sample.address) if int(sample.address) else None,
        "crawler": sample.crawler,
        "rtt_ms": sample.rtt_ms,
        "loss": sample.loss.value if sample.loss else None,
        "rung": sample.rung.value if sample.rung else None,
        "all_ms": list(sample.all_ms),
        "dns_ms": timings.dns_ms if timings else None,
        "tcp_ms": timings.tcp_ms if timings else None,
        "tls_ms": timings.tls_ms if timings else None,
        "first_byte_ms": timings.first_byte_ms if timings else None,
        "download_ms": timings.download_ms if timings else None,
        "detail": sample.detail,
        "taken": time_text(sample.taken_s),
    }
