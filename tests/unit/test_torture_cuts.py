"""Cuts between namespaces begin and end as they are recorded."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from random import Random

import pytest

from tests.torture.cuts import Cuts
from tests.torture.namespaces import Router


@dataclass
class NotedRouter(Router):
    """A router that only notes what it is to drop."""

    dropped: set[tuple[str, str]] = field(default_factory=set)

    def drop(self, source: str, target: str) -> None:
        self.dropped.add((source, target))

    def restore(self, source: str, target: str) -> None:
        self.dropped.remove((source, target))


def made(router: Router, seconds: float) -> Cuts:
    pairs = [("box", "fra"), ("box", "nyc")]
    return Cuts(
        router=router, clocks=[], rng=Random(1), pairs=pairs, beyond_s=lambda *_: seconds, beyond_share=1.0
    )


def test_all_paths_are_whole_in_the_end() -> None:
    router = NotedRouter(["box", "fra", "nyc"])
    cuts = made(router, 1000.0)
    for _ in range(20):
        cuts.strike()
    assert router.dropped == {("box", "fra"), ("fra", "box"), ("box", "nyc"), ("nyc", "box")}
    before_s = time.monotonic()
    cuts.relieve(everything=True)
    assert router.dropped == set()
    assert all(before_s <= fault.ended_s <= time.monotonic() for fault in cuts.log)
    assert [fault.kind for fault in cuts.log] == ["partition"] * 20


def test_path_that_two_cuts_share_stays_cut_until_the_last_of_them_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    router = NotedRouter(["box", "fra", "nyc"])
    cuts = made(router, 10.0)
    now_s = 0.0
    monkeypatch.setattr("tests.torture.cuts.time.monotonic", lambda: now_s)
    for began_s in (0.0, 5.0, 9.0):
        now_s = began_s
        for _ in range(20):
            cuts.strike()
    now_s = 16.0
    cuts.relieve()
    assert len(router.dropped) == 4
    assert {fault.ended_s for fault in cuts.log} == {16.0, 19.0}
    now_s = 19.0
    cuts.relieve()
    assert router.dropped == set()
