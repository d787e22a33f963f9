"""Tables of links: what is kept, what is left out and counted, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipmicra.errors import InputError
from ipmicra.partition.links.table import clean_links

Edges = list[tuple[int, int, float]]


@given(
    st.lists(st.tuples(st.integers(-2, 6), st.integers(-2, 6), st.sampled_from([0.0, 1.0, 2.5])), max_size=20)
)
def test_links_are_kept_or_counted(edges: Edges) -> None:
    source, target = (np.array([edge[end] for edge in edges], np.int64) for end in (0, 1))
    table, tally = clean_links(source, target, np.array([edge[2] for edge in edges]), 5)
    assert tally.kept + tally.inside + tally.unknown + tally.empty == len(edges)
    kept = [
        edge for edge in edges if edge[0] != edge[1] and min(edge[:2]) >= 0 and max(edge[:2]) < 5 and edge[2]
    ]
    assert list(zip(table.source.tolist(), table.target.tolist(), table.count.tolist(), strict=True)) == kept


def test_negative_counts_of_links_are_refused() -> None:
    with pytest.raises(InputError, match="counts of links"):
        clean_links(np.array([0]), np.array([1]), np.array([-1.0]), 2)
