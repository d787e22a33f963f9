"""The paper's procedure does what its slow twin does, in both readings of the step by organisations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from ipmicra.delegate.config import PaperConfig
from ipmicra.delegate.machine import DelegationMachine
from ipmicra.delegate.policies.paper import Paper
from tests.fakes.fleet import arrived, asked, crawler, decided, joined
from tests.fakes.subnet_tree import Listed, ListedTree
from tests.reference.slow_paper import slow_delegation

NAMES = "abcde"
WIDTH = 1 << 16


@st.composite
def trees(draw: st.DrawFn) -> ListedTree:
    """Blocks with subnets in them, some of the same organisation; rows are in preorder."""
    rows: list[Listed] = []
    start = 10 << 24
    for _ in range(draw(st.integers(1, 4))):
        inside = draw(st.integers(0, 4))
        block = len(rows) + 1
        rows.append(Listed(start, start + (inside + 1) * WIDTH - 1, 0, draw(st.integers(0, 3))))
        for k in range(inside):
            first = start + k * WIDTH
            rows.append(Listed(first, first + WIDTH - 1, block, draw(st.integers(0, 3))))
        start += (inside + 2) * WIDTH
    return ListedTree(rows)


@given(
    tree=trees(),
    stands=st.lists(st.integers(0, 400), min_size=1, max_size=len(NAMES)),
    order=st.permutations(range(1, 21)),
    seed=st.integers(0, 2**32 - 1),
    threshold_ms=st.sampled_from([5.0, 20.0, 60.0]),
    is_beyond=st.booleans(),
)
def test_machine_asks_and_chooses_as_the_slow_twin(
    *,
    tree: ListedTree,
    stands: list[int],
    order: list[int],
    seed: int,
    threshold_ms: float,
    is_beyond: bool,
) -> None:
    count = len(tree.descendants(0))
    assume(count > 0)
    rtt_ms = np.random.default_rng(seed).uniform(1.0, 100.0, (len(NAMES), count + 1))
    config = PaperConfig(threshold_ms=threshold_ms, beyond_organisation=is_beyond)
    machine = DelegationMachine(tree, Paper(config))
    fleet = [
        replace(crawler(NAMES[i]), address=tree.bounds(1 + place % count)[1])
        for i, place in enumerate(stands)
    ]
    joined(machine, *fleet)
    holders = {key: machine.roster.name(held.crawler) for key, held in machine.ledger}
    names = [one.name for one in fleet]
    for row in (row for row in order if row <= count):
        address = str(tree.bounds(row)[1])
        key = tree.row_of(address)
        if key in holders:
            continue

        def rtt_of(name: str, key: int = key) -> float:
            return float(rtt_ms[NAMES.index(name), key])

        actions = arrived(machine, address, lambda name, _, rtt_of=rtt_of: rtt_of(name))  # type: ignore[misc]
        slow = slow_delegation(
            tree, key, holders, rtt_of, names, threshold_ms=threshold_ms, is_beyond=is_beyond
        )
        assert (decided(actions).crawler, asked(actions)) == slow
        holders[key] = slow[0]
