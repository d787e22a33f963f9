"""Remembering the values that matter, as spans of the buffer."""

from __future__ import annotations

import numba
import numpy as np

from ipmicra.model.registry import REGISTRY_MAINTAINERS
from ipmicra.parse.kernels.bytescan import cut_comment, is_blank
from ipmicra.parse.kernels.state import (
    ADDRESS,
    ADDRESSES,
    BY_ORG,
    BY_ORGID,
    BY_OWNERID,
    DESCR,
    HANDLE,
    HAS_RANGE,
    HOLDER,
    KIND,
    MAINTAINER,
    MOST_ADDRESSES,
    NAME,
    ORGID,
    OWNER,
    OWNERID,
    RANGE,
    REGISTRATION,
    REMARK,
)
from ipmicra.parse.kernels.values import geofeed_word, starts_with_folded

_GEOFEED = np.frombuffer(b"geofeed", np.uint8)
_MAINTAINERS = "".join(REGISTRY_MAINTAINERS).lower().encode()
_MAINTAINER_TEXT = np.frombuffer(_MAINTAINERS, np.uint8)
_MAINTAINER_ENDS = np.cumsum([len(name) for name in REGISTRY_MAINTAINERS])
COMMA, LETTER_G = 44, 103


@numba.njit(nogil=True, cache=True)
def _is_registrys_own(buffer, start, end):
    """Tell whether a maintainer is a registry's own."""
    begin = 0
    for i in range(_MAINTAINER_ENDS.size):
        if starts_with_folded(buffer, start, end, _MAINTAINER_TEXT[begin : _MAINTAINER_ENDS[i]]):
            return True
        begin = _MAINTAINER_ENDS[i]
    return False


@numba.njit(nogil=True, cache=True)
def _take_maintainer(buffer, spans, start, end):
    """Remember the first name of a list that is no registry's own."""
    position = start
    while position < end:
        while position < end and (is_blank(buffer[position]) or buffer[position] == COMMA):
            position += 1
        word = position
        while position < end and not is_blank(buffer[position]) and buffer[position] != COMMA:
            position += 1
        if word < position and not _is_registrys_own(buffer, word, position):
            spans[MAINTAINER, 0], spans[MAINTAINER, 1] = word, position
            return


@numba.njit(nogil=True, cache=True, forceinline=True)
def _take_handle(spans, state, field, start, end):
    """Remember the handle of a registration's holder, and its kind."""
    if field == OWNERID and spans[OWNERID, 1] == 0:
        spans[OWNERID, 0], spans[OWNERID, 1] = start, end
    if state[KIND] == REGISTRATION and spans[HANDLE, 1] == 0:
        spans[HANDLE, 0], spans[HANDLE, 1] = start, end
        state[HOLDER] = BY_ORG if field == HANDLE else BY_OWNERID if field == OWNERID else BY_ORGID


@numba.njit(nogil=True, cache=True, forceinline=True)
def take(buffer, spans, addresses, state, field, start, end):
    """Remember a value of an attribute that matters."""
    if field == DESCR or field == NAME or field == OWNER:
        if spans[field, 1] == 0 and start < end:
            spans[field, 0], spans[field, 1] = start, end
        return
    if field == ADDRESS:
        if start < end and state[ADDRESSES] < MOST_ADDRESSES:
            addresses[state[ADDRESSES], 0], addresses[state[ADDRESSES], 1] = start, end
            state[ADDRESSES] += 1
        return
    if field == REMARK and (start == end or buffer[start] | 32 != LETTER_G):
        return
    start, end = cut_comment(buffer, start, end)
    if field == RANGE:
        if state[HAS_RANGE] == 0:
            spans[RANGE, 0], spans[RANGE, 1] = start, end
            state[HAS_RANGE] = 1
    elif start >= end:
        return
    elif field == MAINTAINER:
        if spans[MAINTAINER, 1] == 0:
            _take_maintainer(buffer, spans, start, end)
    elif field == REMARK:
        start, end = geofeed_word(buffer, start, end, _GEOFEED)
        if start < end and spans[REMARK, 1] == 0:
            spans[REMARK, 0], spans[REMARK, 1] = start, end
    elif field == HANDLE or field == OWNERID or field == ORGID:
        _take_handle(spans, state, field, start, end)
    elif spans[field, 1] == 0:
        spans[field, 0], spans[field, 1] = start, end
