"""The compiled module checks what Python hands it: wrong arrays raise, and never reach the loops."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipmicra.assign.coordinate.space import Space
from ipmicra.assign.overlay.zones import Zones
from ipmicra.errors import AddressError
from ipmicra.hierarchy.hierarchy import Hierarchy
from ipmicra.native import kernels
from ipmicra.parse.columns import Columns, Texts
from ipmicra.parse.dialect import Dialect
from tests.reference.fast_building import built, columns_of, file_bytes

U4, U8, I4, I8 = np.uint32, np.uint64, np.int32, np.int64
SEVERAL = (
    b"inetnum: 10.0.0.0/8\n\ninetnum: 10.1.0.0/16\n\ninet6num: 2001:db8::/32\n\ninet6num: 2001:db8:1::/48\n"
)

FOREST = np.zeros((4, 1), np.int32), np.zeros((2, 2, 16), np.float32)
BRANCH = np.array([[1], [2]]), np.ones(2), np.array([3]), np.ones(1)
PAIRS = np.ones((2, 3))
BELIEF = (PAIRS, PAIRS, PAIRS, np.ones(2), np.ones(3), np.ones((0, 2)), np.ones((0, 3)), 2.0, 4.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: kernels.sort_keys(np.zeros(3, U8), np.zeros(2, U4)),
        lambda: kernels.sort_keys(np.zeros(3, U4), np.zeros(3, U4)),
        lambda: kernels.sort_keys(np.zeros(6, U8)[::2], np.zeros(3, U4)),
        lambda: kernels.sort_keys(b"12345678", np.zeros(1, U4)),  # type: ignore[arg-type]
        kernels.sort_keys,
        lambda: kernels.flatten(
            np.array([[0, 9], [0, 1], [2, 3]], U4), np.array([0, 5, 1], U4), np.zeros(9, U8)
        ),
        lambda: kernels.flatten(np.zeros((2, 2), U4), np.zeros(3, U4), np.zeros(9, U8)),
        lambda: kernels.index_segments(np.zeros(0, U8), 8, np.zeros(4, U8)),
        lambda: kernels.index_segments(np.zeros(1, U8), 40, np.zeros(4, U8)),
        lambda: kernels.read_fixed(b"1.2.3.4", 5, 0, np.zeros((1, 2), U8)),
        lambda: kernels.read_strings(b"", np.zeros(0, I8), 0, np.zeros((0, 2), U8)),
        lambda: kernels.Sheet().read_paragraphs(b"abc", 4, 0),
        lambda: kernels.Sheet().read_statistics(b"abc", -1),
        lambda: kernels.auction(
            *(np.zeros((2, 1), np.float32), np.ones(2), np.ones(1), np.zeros(1)),
            *(np.array([0, 0]), 1.0, 9, np.zeros(2, I8)),
        ),
        lambda: kernels.expect_branch(
            *FOREST, (*BRANCH[:2], np.array([4]), np.ones(1)), np.ones(3), np.ones(3)
        ),
        lambda: kernels.expect_branch(*FOREST, BRANCH, np.ones(2), np.ones(3)),
        lambda: kernels.expect_branch(*FOREST, BRANCH[:3], np.ones(3), np.ones(3)),  # type: ignore[arg-type]
        lambda: kernels.learn_branch(*FOREST, BRANCH, np.array([16]), np.ones(1), np.ones(1)),
        lambda: kernels.learn_branch(*FOREST, BRANCH, np.array([0]), np.ones(1), np.ones(1)),
        lambda: kernels.expect_branch(FOREST[0] + np.int32(2), FOREST[1], BRANCH, np.ones(3), np.ones(3)),
        lambda: kernels.expect_branch(*FOREST, BRANCH, np.ones(17), np.ones(17)),
        lambda: kernels.learn_branch(*FOREST, BRANCH, np.array([0, 1]), np.ones(1), np.ones(1)),
        lambda: kernels.condition_belief(
            BELIEF, np.ones(3), 3, 9.0, 0.0, np.ones(2), np.ones(3), np.ones((1, 2)), np.ones((1, 3))
        ),
        lambda: kernels.condition_belief(
            BELIEF, np.ones(3), 0, 9.0, 0.0, np.ones(2), np.ones(3), np.ones((0, 2)), np.ones((1, 3))
        ),
        lambda: kernels.condition_belief(
            BELIEF, np.ones(2), 0, 9.0, 0.0, np.ones(2), np.ones(3), np.ones((1, 2)), np.ones((1, 3))
        ),
        lambda: kernels.save_over_known(BELIEF, 9.0, 20.0, 0.01, 1.0, 1e-12, np.ones(0), np.ones(3)),
        lambda: kernels.save_over_expected(BELIEF, np.ones(3), -1, 20.0, 0.01, 1e-12, np.ones(3)),
        lambda: kernels.expect_logarithm((np.ones((2, 2)), *BELIEF[1:]), 0, 0.01),
    ],
)
def test_arrays_that_do_not_fit_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError, BufferError)):
        call()


def test_the_error_of_a_flag_without_a_truth_value_is_passed_on() -> None:
    zones = Zones(Space(low=np.zeros(2), high=np.ones(2)))
    with pytest.raises(ValueError, match="truth value"):
        kernels.neighbours_of(zones.tree, 0, np.array([True, False]), np.zeros(9, I4))  # type: ignore[arg-type]


def test_offsets_outside_the_data_stop_the_reading() -> None:
    words = np.zeros((2, 2), U8)
    assert kernels.read_strings(b"1.2.3.4", np.array([0, 7, 99], I8), 0, words) == 1
    assert words[0].tolist() == [0, 0xFFFF_0102_0304]


def test_text_whose_length_does_not_fit_a_pool_is_refused() -> None:
    size = 1 << 21
    texts = Texts(data=np.zeros(size, np.uint8), ends=np.array([0, size], np.uint64))
    columns = columns_of((b"inetnum: 10.0.0.0/8\nnetname: N\n", Dialect.RPSL))
    places, written = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="too little room"):
        kernels.write_picked(
            texts,
            columns.rows4,
            columns.rows6,
            0,
            np.zeros(1, np.int32),
            places,
            np.zeros(size + 3, np.uint8),
            written,
        )


def test_types_of_the_module_cannot_be_changed_or_made_from_nothing() -> None:
    with pytest.raises(TypeError):
        kernels.Buffer()
    with pytest.raises(TypeError):
        kernels.Sheet.clear = None  # type: ignore[method-assign,assignment]


def test_a_gatherer_joins_only_another() -> None:
    gatherer = kernels.Gatherer()
    with pytest.raises(TypeError):
        gatherer.join(gatherer)
    with pytest.raises(TypeError):
        gatherer.add(gatherer)  # type: ignore[arg-type]


def test_a_dropped_dump_leaves_no_trace_and_the_next_counts_its_own_lines() -> None:
    sheet, gatherer = kernels.Sheet(), kernels.Gatherer()
    sheet.read_paragraphs(SEVERAL, len(SEVERAL), 0)
    gatherer.begin()
    gatherer.add(sheet)
    before = gatherer.counts()
    gatherer.begin()
    gatherer.add(sheet)
    gatherer.add(sheet)
    gatherer.drop()
    assert gatherer.counts() == before
    gatherer.begin()
    gatherer.add(sheet)
    lines = Columns.of(gatherer).rows4.line
    assert lines[:2].tolist() == lines[2:].tolist()


def test_columns_outlive_their_gatherer() -> None:
    sheet, gatherer = kernels.Sheet(), kernels.Gatherer()
    sheet.read_paragraphs(SEVERAL, len(SEVERAL), 0)
    gatherer.add(sheet)
    first = np.frombuffer(memoryview(gatherer.finish()[0]), U4)
    del sheet, gatherer
    gc.collect()
    assert first.tolist() == [0x0A000000, 0x0A010000]


def test_a_closed_finder_answers_no_more_and_frees_the_file() -> None:
    content = bytearray(file_bytes(SEVERAL))
    hierarchy = Hierarchy(content)
    row_of = hierarchy.row_of
    assert row_of("10.1.2.3") == 2
    hierarchy._finder.close()
    with pytest.raises(ValueError, match="closed"):
        row_of("10.1.2.3")
    with pytest.raises(ValueError, match="closed"):
        hierarchy.lookup_many(["10.1.2.3"])
    hierarchy._sections.release()
    del hierarchy, row_of
    gc.collect()
    content.extend(b"more")  # no view of it is left


def test_closing_waits_for_look_ups_in_other_threads() -> None:
    """A thread that is inside a look-up goes on reading while another closes the finder."""
    hierarchy = built(SEVERAL)
    asked = np.random.default_rng(1).integers(0, 2**32, 3_000_000, U4)
    expected, found = hierarchy.lookup_many(asked), np.zeros(len(asked), U4)

    def look() -> None:
        try:
            hierarchy._finder.rows_of_narrow(asked, found)
        except ValueError:  # closed before it began
            found[:] = expected

    thread = threading.Thread(target=look)
    thread.start()
    hierarchy._finder.close()
    thread.join()
    assert (found == expected).all()


TEXTS = ["10.1.2.3", "2001:db8:1::7", "::ffff:10.1.0.0", " 10.0.0.1", "9.9.9.9", "::ffff:a01:1"]


def as_arrow(texts: list[str]) -> list[Any]:
    arrow = pytest.importorskip("pyarrow")
    return [
        arrow.array(texts),
        arrow.array(texts, arrow.large_string()),
        arrow.array(["x", *texts])[1:],
        arrow.chunked_array([texts[:2], texts[2:]]),
    ]


def test_texts_of_every_kind_give_the_same_rows() -> None:
    hierarchy = built(SEVERAL)
    expected = [hierarchy.row_of(text) for text in TEXTS]
    kinds: list[Any] = [tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, np.bytes_), np.array(TEXTS, object)]
    for texts in (*kinds, *as_arrow(TEXTS)):
        assert hierarchy.lookup_many(texts).tolist() == expected
        many = np.tile(texts, 10_000) if isinstance(texts, np.ndarray) else texts
        assert set(hierarchy.lookup_many(many).tolist()) == set(expected)


@pytest.mark.parametrize("bad", ["", "10.0.0", "10.0.0.256", "1::2::3", "10.0.0.01", "é", "1.2.3.4\0"])
def test_a_text_that_is_no_address_is_named_whatever_the_array(bad: str) -> None:
    hierarchy = built(SEVERAL)
    kinds: list[Any] = [["10.0.0.1", bad], np.array(["10.0.0.1", bad], object), *as_arrow(["10.0.0.1", bad])]
    if "\0" not in bad:  # numpy takes it for the end of a text
        kinds.append(np.array(["10.0.0.1", bad]))
    for texts in kinds:
        with pytest.raises(AddressError):
            hierarchy.lookup_many(texts)


def test_nulls_of_arrow_are_no_addresses() -> None:
    arrow = pytest.importorskip("pyarrow")
    with pytest.raises(AddressError, match="null"):
        built(SEVERAL).lookup_many(arrow.array(["10.0.0.1", None]))


def test_a_hierarchy_at_an_odd_place_of_a_buffer_is_read() -> None:
    content = b"x" + file_bytes(SEVERAL)
    assert Hierarchy(memoryview(content)[1:]).row_of("10.1.2.3") == 2


def test_many_single_look_ups_agree_before_and_after_their_index_is_made() -> None:
    text = b"".join(b"inet6num: 2001:%x::/32\n\ninet6num: 2001:%x:8::/48\n\n" % (i, i) for i in range(300))
    hierarchy = built(text)
    asked = [f"2001:{i % 310:x}:{i % 17:x}::{i:x}" for i in range(9000)]
    rows = [hierarchy.row_of(each) for each in asked]
    assert rows == hierarchy.lookup_many(asked).tolist()
    assert rows == [hierarchy.row_of(each) for each in asked]


def test_zones_that_hold_themselves_are_refused_and_not_walked_for_ever() -> None:
    count, width = 4, 2
    tree = (
        np.zeros((count, width)),
        np.ones((count, width)),
        np.array([0, -1, -1, -1], np.int8),
        np.full(count, 5.0),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
        np.array([3, 0], np.int64),
    )
    with pytest.raises(ValueError, match="not sound"):
        kernels.neighbours_of(tree, 1, False, np.zeros(4, np.int32))
