"""Populations: shapes, seeds, the King text, matrices."""

from __future__ import annotations

import numpy as np
import pytest

from ipmicra import InputError
from ipmicra.edge.files.matrices import check_matrix, parse_king
from ipmicra.lab.worlds.populations import (
    KingLike,
    TransitStub,
    king_like,
    of_matrix,
    transit_stub,
)

SMALL = TransitStub(hosts=4)


def test_transit_stub_has_the_nodes_of_table_one() -> None:
    shape = TransitStub()
    assert shape.domains * shape.transits * shape.stubs * shape.hosts == 3000
    population = transit_stub(np.random.default_rng(1), SMALL)
    assert population.rtt_ms.shape == (400, 400)
    assert (population.rtt_ms == population.rtt_ms.T).all()
    assert (population.rtt_ms[~np.eye(400, dtype=bool)] > 0).all()


def test_hosts_of_one_stub_are_near_and_those_of_other_domains_far() -> None:
    rtt = transit_stub(np.random.default_rng(1), SMALL).rtt_ms
    same_stub, other_domain = rtt[:4, :4][np.triu_indices(4, 1)], rtt[:100, 100:]
    assert same_stub.mean() < other_domain.mean() / 5


def test_king_like_world_breaks_triangles_and_has_a_tail() -> None:
    rtt = king_like(np.random.default_rng(1), KingLike(nodes=200)).rtt_ms
    assert (rtt == rtt.T).all()
    detour = (rtt[:, :, None] + rtt[None]).min(axis=1)
    off = ~np.eye(200, dtype=bool)
    assert (detour < rtt * 0.99)[off].mean() > 0.05
    assert np.quantile(rtt[off], 0.99) > 2 * np.median(rtt[off])


@pytest.mark.parametrize("make", [transit_stub, king_like])
def test_a_seed_gives_the_same_world(make: object) -> None:
    shape = SMALL if make is transit_stub else KingLike(nodes=50)
    one, again, other = (make(np.random.default_rng(seed), shape).rtt_ms for seed in (1, 1, 2))  # type: ignore[operator]
    assert (one == again).all()
    assert (one != other).any()


def test_king_text_is_read_in_microseconds_from_node_one() -> None:
    text = "# King\nnode 1 10.0.0.1\nnode 2\nnode 3\n1,2 20000\n1 , 3 5000.5\n2,3 -1\n"
    rtt = check_matrix("king", parse_king(text))
    assert rtt[0, 1] == rtt[1, 0] == 20.0
    assert rtt[0, 2] == 5.0005
    assert np.isnan(rtt[1, 2])


@pytest.mark.parametrize("text", ["", "node 1\n", "1,2 x\n", "1 2 3\n", "\0"])
def test_text_that_is_no_king_matrix_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_king(text)


def test_one_direction_stands_for_both_and_bad_values_are_missing() -> None:
    rtt = check_matrix("m", np.array([[9, 2, 0], [4, 0, -1], [0, 7, 0]]))
    assert rtt[0].tolist()[:2] == [0, 3]
    assert np.isnan(rtt[0, 2])
    assert rtt[1, 2] == rtt[2, 1] == 7
    with pytest.raises(InputError, match="square"):
        check_matrix("m", np.ones((2, 3)))


def test_a_matrix_is_divided_as_king_is() -> None:
    population = of_matrix("m", np.ones((1740, 1740)))
    assert (population.crawlers, population.initial, population.per_join) == (140, 60, 9)
    with pytest.raises(InputError, match="too few"):
        of_matrix("m", np.ones((10, 10)))
