"""Coordinates as bytes and back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.assign.coordinate.blend import Blend, Member
from ipmicra.assign.coordinate.config import DescentConfig, GnpConfig, UpdateConfig
from ipmicra.assign.coordinate.gnp import Embedding
from ipmicra.assign.coordinate.ridge import Likeness, Ridge, Setting
from ipmicra.assign.coordinate.subnets import Samples, SubnetBook
from ipmicra.assign.packing import pack, unpack
from ipmicra.errors import CorruptStateError

KIND = "coordinates"
Arrays = dict[str, NDArray[Any]]


def to_bytes(method: str, blended: Blend, book: SubnetBook) -> bytes:
    """Save a fitted fleet and the samples of its subnets."""
    arrays: Arrays = {"landmarks": blended.landmarks.astype("<i8")}
    for number, member in enumerate(blended.members):
        crawlers = member.crawlers
        arrays[f"member{number}"] = np.column_stack([crawlers.points, crawlers.heights, crawlers.error])
    facts: dict[str, Any] = {
        "method": method,
        "floor_ms": blended.floor_ms,
        "update": asdict(book.config),
        "members": [{"config": asdict(one.config), "regret": one.regret} for one in blended.members],
        "ridge": None,
    }
    if blended.ridge is not None:
        facts["ridge"] = _save_ridge(blended.ridge, arrays)
    _save_samples(book.samples, arrays)
    return pack(KIND, facts, arrays)


def from_bytes(data: bytes) -> tuple[str, Blend, UpdateConfig, Samples]:
    """Restore what `to_bytes` saved."""
    facts, arrays = unpack(KIND, data)
    try:
        members = tuple(
            _member(stored, arrays[f"member{number}"]) for number, stored in enumerate(facts["members"])
        )
        blended = Blend(
            landmarks=arrays["landmarks"].astype(np.intp),
            members=members,
            floor_ms=float(facts["floor_ms"]),
            ridge=_ridge(facts["ridge"], arrays) if facts["ridge"] else None,
        )
        return str(facts["method"]), blended, UpdateConfig(**facts["update"]), _samples(arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CorruptStateError(f"saved {KIND}: {error}") from error


def _member(stored: dict[str, Any], table: NDArray[np.float64]) -> Member:
    config = dict(stored["config"])
    config["descent"] = DescentConfig(**config["descent"])
    crawlers = Embedding(points=table[:, :-2], heights=table[:, -2], error=table[:, -1])
    return Member(config=GnpConfig(**config), crawlers=crawlers, regret=float(stored["regret"]))


def _save_ridge(ridge: Ridge, arrays: Arrays) -> dict[str, Any]:
    arrays |= {"known": ridge.known.samples, "surprise": ridge.known.surprise, "left_out": ridge.left_out}
    arrays["duals"] = np.stack(ridge.duals)
    settings = [asdict(setting) for setting in ridge.settings]
    return {"scale": ridge.scale, "unit": ridge.unit, "settings": settings}


def _ridge(stored: dict[str, Any], arrays: Arrays) -> Ridge:
    return Ridge(
        known=Likeness(samples=arrays["known"], surprise=arrays["surprise"]),
        scale=float(stored["scale"]),
        unit=float(stored["unit"]),
        settings=tuple(Setting(**one) for one in stored["settings"]),
        duals=tuple(arrays["duals"]),
        left_out=arrays["left_out"],
    )


def _save_samples(samples: Samples, arrays: Arrays) -> None:
    """Lay samples out as three columns, in the order in which they came."""
    rows = [
        (subnet, crawler, rtt_ms)
        for subnet, by_crawler in samples.items()
        for crawler, kept in by_crawler.items()
        for rtt_ms in kept
    ]
    arrays["sample_subnets"] = np.array([row[0] for row in rows], dtype="<i8")
    arrays["sample_crawlers"] = np.array([row[1] for row in rows], dtype="<i4")
    arrays["sample_ms"] = np.array([row[2] for row in rows], dtype="<f8")


def _samples(arrays: Arrays) -> Samples:
    samples: Samples = {}
    columns = (arrays["sample_subnets"], arrays["sample_crawlers"], arrays["sample_ms"])
    for subnet, crawler, rtt_ms in zip(*(column.tolist() for column in columns), strict=True):
        samples.setdefault(subnet, {}).setdefault(crawler, []).append(rtt_ms)
    return samples
