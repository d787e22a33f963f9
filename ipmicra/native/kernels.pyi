# What the compiled module offers; the sources beside this file say how each function works.

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

WORTH_TABLE: int

_Bytes: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8]
_Floats: TypeAlias = NDArray[np.float64]
_Rows: TypeAlias = NDArray[np.int64]
_Tree: TypeAlias = tuple[NDArray[Any], ...]
_Graph: TypeAlias = tuple[_Rows, _Rows, _Floats]
Branch: TypeAlias = tuple[NDArray[np.intp], _Floats, NDArray[np.intp], _Floats]
Belief: TypeAlias = tuple[_Floats, _Floats, _Floats, _Floats, _Floats, _Floats, _Floats, float, float]
_Address: TypeAlias = str | int | IPv4Address | IPv6Address

class _RowColumns(Protocol):
    # see `ipmicra.parse.columns.Rows`

    @property
    def texts(self) -> tuple[NDArray[np.uint32], ...]: ...
    @property
    def country(self) -> NDArray[np.uint16]: ...
    @property
    def date(self) -> NDArray[np.uint16]: ...
    @property
    def registry(self) -> NDArray[np.uint8]: ...
    @property
    def holder(self) -> NDArray[np.uint8]: ...
    @property
    def detail(self) -> NDArray[np.uint8]: ...

class _Texts(Protocol):
    # see `ipmicra.parse.columns.Texts`

    @property
    def data(self) -> NDArray[np.uint8]: ...
    @property
    def ends(self) -> NDArray[np.uint64]: ...

@final
class Buffer:
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Sheet:
    def read_paragraphs(self, buffer: _Bytes, size: int, registry: int, /) -> None: ...
    def read_statistics(self, buffer: _Bytes, size: int, /) -> None: ...
    def read_iana(self, cells: tuple[bytes, ...], line: int, /) -> None: ...
    def skip(self, line: int, reason: int, /) -> None: ...
    def clear(self) -> None: ...
    def add_lines(self, count: int, /) -> None: ...

@final
class Gatherer:
    def add(self, sheet: Sheet, /) -> None: ...
    def join(self, other: Gatherer, /) -> None: ...
    def begin(self) -> None: ...
    def drop(self) -> None: ...
    def reserve(self, times: float, /) -> None: ...
    def counts(self) -> tuple[int, tuple[int, int, int, int], tuple[int, int, int]]: ...
    def finish(self) -> list[Buffer]: ...

@final
class Finder:
    def __new__(
        cls,
        index: memoryview,
        segments: memoryview,
        bounds6: memoryview,
        parent: memoryview,
        look_closer: Callable[[_Address], tuple[int, int]],
        corrupt: Callable[[int], object],
        /,
    ) -> Finder: ...
    def row_of(self, address: _Address, /) -> int: ...
    def rows_of_narrow(self, addresses: NDArray[np.uint32], out: NDArray[np.uint32], /) -> None: ...
    def rows_of_wide(
        self,
        addresses: NDArray[np.uint64] | memoryview,
        out: NDArray[np.uint32] | memoryview,
        instructions: int = 0,
        /,
    ) -> None: ...
    def rows_of_run(self, addresses: memoryview, out: memoryview, /) -> None: ...
    def close(self) -> None: ...

def range_keys(
    first: NDArray[np.uint32],
    last: NDArray[np.uint32],
    keys: NDArray[np.uint64],
    order: NDArray[np.uint32],
    /,
) -> int: ...
def sort_keys(keys: NDArray[np.uint64], order: NDArray[np.uint32], /) -> int: ...
def pick_winners(
    rows: _RowColumns,
    texts: _Texts,
    order: NDArray[np.uint32],
    is_same: NDArray[np.bool_],
    winners: NDArray[np.int32],
    losers: _Rows,
    /,
) -> int: ...
def rank_ranges(
    ranges: NDArray[np.uint64], keys: NDArray[np.uint64], values: NDArray[np.uint64], /
) -> int: ...
def nest(
    keys: NDArray[np.uint64],
    widths: NDArray[np.uint64],
    source: NDArray[np.uint32],
    bounds: NDArray[np.uint32],
    parent: NDArray[np.uint32],
    cuts: _Rows,
    /,
) -> tuple[int, int, int]: ...
def flatten(
    bounds: NDArray[np.uint32], parent: NDArray[np.uint32], segments: NDArray[np.uint64], /
) -> int: ...
def index_segments(segments: NDArray[np.uint64], shift: int, index: NDArray[np.uint64], /) -> int: ...
def write_picked(
    texts: _Texts,
    rows4: _RowColumns,
    rows6: _RowColumns,
    kind: int,
    picked: NDArray[np.int32],
    places: NDArray[np.uint32],
    out: NDArray[np.uint8],
    written: NDArray[np.uint32],
    /,
) -> tuple[int, int]: ...
def renumber(
    numbers: NDArray[np.int32],
    picked: NDArray[np.int32],
    out: NDArray[np.uint32],
    order: _Rows,
    firsts: _Rows,
    /,
) -> int: ...
def name_holders(
    texts: _Texts,
    rows4: _RowColumns,
    rows6: _RowColumns,
    organisations: _RowColumns,
    numbers: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    objects: _Rows,
    /,
) -> int: ...
def encode_organisations(
    texts: _Texts,
    kinds: NDArray[np.uint8],
    objects: _Rows,
    firsts: _Rows,
    rows4: _RowColumns,
    rows6: _RowColumns,
    known: _RowColumns,
    out: NDArray[np.uint8],
    at: _Rows,
    /,
) -> int: ...
def hash_bytes(text: _Bytes, /) -> int: ...
def read_list(addresses: list[Any], start: int, out: NDArray[np.uint64], /) -> int: ...
def read_strings(data: _Bytes, offsets: _Rows, start: int, out: NDArray[np.uint64], /) -> int: ...
def read_fixed(data: _Bytes, width: int, start: int, out: NDArray[np.uint64], /) -> int: ...
def read_lines(data: _Bytes, start: int, edges: memoryview, words: memoryview, /) -> tuple[int, int]: ...
def render_lines(
    sections: tuple[memoryview, ...],
    data: _Bytes,
    edges: memoryview,
    words: memoryview,
    rows: memoryview,
    start: int,
    is_json: bool,
    out: bytearray,
    notes: bytearray,
    /,
) -> tuple[int, int]: ...
def note_rows(sections: tuple[memoryview, ...], notes: bytearray, /) -> None: ...
def write_labels(
    bounds4: NDArray[np.uint32],
    bounds6: NDArray[np.uint64],
    rows: NDArray[np.uint32],
    at: int,
    edges: NDArray[np.int32],
    data: NDArray[np.uint8],
    /,
) -> int: ...
def write_names(
    names: _Bytes, places: NDArray[np.uint32], at: int, edges: NDArray[np.int32], data: NDArray[np.uint8], /
) -> int: ...
def leaf_of(tree: _Tree, point: _Floats, /) -> int: ...
def leaves_of(tree: _Tree, points: _Floats, leaves: NDArray[np.int32], /) -> int: ...
def split_zone(tree: _Tree, zone: int, axis: int, at: float, /) -> int: ...
def next_axis(tree: _Tree, zone: int, /) -> int: ...
def loop_cut(tree: _Tree, zone: int, /) -> tuple[int, float]: ...
def join_many(
    tree: _Tree, points: _Floats, zone_of: NDArray[np.int32], crawlers: _Rows, scheme: int, halves: _Rows, /
) -> int: ...
def neighbours_of(tree: _Tree, zone: int, is_torus: bool, found: NDArray[np.int32], /) -> int: ...
def route(tree: _Tree, start: int, point: _Floats, is_torus: bool, path: NDArray[np.int32], /) -> int: ...
def hops_of_many(
    tree: _Tree,
    starts: NDArray[np.int32],
    points: _Floats,
    is_torus: bool,
    path: NDArray[np.int32],
    hops: _Rows,
    /,
) -> int: ...
def auction(
    cost: NDArray[np.float32],
    load: _Floats,
    room: _Floats,
    price: _Floats,
    waiting: _Rows,
    step: float,
    most_bids: int,
    taker: _Rows,
    /,
) -> int: ...
def best_piece(
    crawler: int, waiting: _Rows, now: float, since: _Floats, lives: _Rows, /, *matter: NDArray[Any]
) -> int: ...
def best_crawler(
    piece: int, available: _Rows, now: float, since: _Floats, lives: _Rows, /, *matter: NDArray[Any]
) -> int: ...
def move_once(
    near: _Graph,
    linked: _Graph,
    preferences: _Floats,
    power: float,
    part: _Rows,
    load: _Floats,
    limit: _Floats,
    weight: _Floats,
    cuts: _Floats,
    /,
) -> int: ...
def expect_branch(
    index: NDArray[np.int32],
    blocks: NDArray[np.float32],
    branch: Branch,
    mean: _Floats,
    variance: _Floats,
    /,
) -> int: ...
def learn_branch(
    index: NDArray[np.int32],
    blocks: NDArray[np.float32],
    branch: Branch,
    crawlers: NDArray[np.intp],
    message_precision: _Floats,
    message_weight: _Floats,
    /,
) -> int: ...
def condition_belief(
    belief: Belief,
    column: _Floats,
    crawler: int,
    rtt_ms: float,
    noise: float,
    scores: _Floats,
    variances: _Floats,
    deviations: _Floats,
    gains: _Floats,
    /,
) -> tuple[float, float]: ...
def save_over_known(
    belief: Belief,
    best_ms: float,
    fixed_ms: float,
    least_weight: float,
    widening: float,
    least_variance: float,
    points: _Floats,
    saved: _Floats,
    /,
) -> int: ...
def save_over_expected(
    belief: Belief,
    column: _Floats,
    holder: int,
    fixed_ms: float,
    least_weight: float,
    least_variance: float,
    saved: _Floats,
    /,
) -> int: ...
def expect_logarithm(belief: Belief, crawler: int, least_weight: float, /) -> float: ...
def keep_reserve() -> int: ...
def share_heap() -> int: ...
