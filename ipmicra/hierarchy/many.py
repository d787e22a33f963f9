"""Rows of many addresses: arrays of numbers and texts, in whatever form they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ipmicra.errors import AddressError
from ipmicra.hierarchy.finder import words_of
from ipmicra.model.address import AnyAddress
from ipmicra.native import kernels

Addresses = NDArray[Any] | Sequence[AnyAddress]
"""What `lookup_many` takes; also pyarrow's arrays of strings, which it does not have to know to read."""


def rows_of(
    finder: kernels.Finder, addresses: Addresses, out: NDArray[np.uint32] | None
) -> NDArray[np.uint32]:
    """Return the row of the narrowest subnet of each address; see `Hierarchy.lookup_many`."""
    rows = np.empty(len(addresses), np.uint32) if out is None else np.ascontiguousarray(out, np.uint32)
    if isinstance(addresses, np.ndarray) and addresses.dtype.kind == "b":
        raise AddressError("an array of booleans", "holds no addresses")  # older numpy takes them for 0 and 1
    if isinstance(addresses, np.ndarray) and addresses.dtype.kind in "ui":
        if addresses.ndim == 1:
            finder.rows_of_narrow(_narrow(addresses), rows)
        else:
            finder.rows_of_wide(_wide(addresses), rows)
    else:
        finder.rows_of_wide(_words(addresses), rows)
    if out is not None and out is not rows:
        out[:] = rows
        return out
    return rows


def _words(addresses: Any) -> NDArray[np.uint64]:  # noqa: ANN401 - whatever holds texts
    """Read texts and `ipaddress` objects; IPv4 addresses become IPv4-mapped ones."""
    words = np.empty((len(addresses), 2), np.uint64)
    if isinstance(addresses, np.ndarray) and addresses.dtype.kind in "SU" and addresses.ndim == 1:
        if addresses.dtype.kind == "U":
            addresses = _encoded(addresses)
        texts = np.ascontiguousarray(addresses)
        width = texts.dtype.itemsize
        read = texts.view(np.uint8) if texts.size else np.empty(0, np.uint8)
        _read_all(words, addresses, lambda at: kernels.read_fixed(read, max(width, 1), at, words))
    elif type(addresses).__module__.partition(".")[0] == "pyarrow":
        data, offsets = _arrow_strings(addresses)
        _read_all(words, addresses, lambda at: kernels.read_strings(data, offsets, at, words))
    else:
        listed = list(addresses)
        _read_all(words, listed, lambda at: kernels.read_list(listed, at, words))
    return words


def read_known_texts(texts: Any) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:  # noqa: ANN401
    """Read Arrow strings without nulls; return their words, and which of them are addresses.

    IPv4 addresses become IPv4-mapped ones; texts that are no addresses are zeros.
    """
    words = np.zeros((len(texts), 2), np.uint64)
    is_address = np.ones(len(texts), bool)
    data, offsets = _arrow_strings(texts)
    at = kernels.read_strings(data, offsets, 0, words)
    while at < len(words):
        try:
            words[at] = words_of(texts[at].as_py().strip())
        except AddressError:
            words[at], is_address[at] = 0, False
        at = kernels.read_strings(data, offsets, at + 1, words)
    return words, is_address


def _read_all(words: NDArray[np.uint64], addresses: Any, read_from: Any) -> None:  # noqa: ANN401
    """Read all addresses; where compiled code stops, one is read the long way."""
    at = read_from(0)
    while at < len(words):
        address = addresses[at]
        if hasattr(address, "as_py"):
            address = address.as_py()
        words[at] = words_of(address.decode("latin-1") if isinstance(address, bytes) else address)
        at = read_from(at + 1)


def _encoded(texts: NDArray[np.str_]) -> NDArray[np.bytes_]:
    """Write texts as bytes; what is not ASCII is no address, and stays recognisable in the error."""
    try:
        return texts.astype(np.bytes_)
    except UnicodeEncodeError:
        return np.array([text.encode("utf-8") for text in texts.tolist()])


def _arrow_strings(addresses: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:  # noqa: ANN401
    """Return the bytes and the offsets of Arrow strings, of one chunk or several."""
    if addresses.null_count:
        raise AddressError("null", "is no address")
    if hasattr(addresses, "combine_chunks"):
        addresses = addresses.combine_chunks()
    strings = addresses.cast("large_string")
    _validity, offsets, data = strings.buffers()
    if not len(strings):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    edges = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), edges


def _narrow(addresses: NDArray[Any]) -> NDArray[np.uint32]:
    """Check that whole numbers are IPv4 addresses."""
    if addresses.dtype == np.uint32:
        return np.ascontiguousarray(addresses)
    if addresses.size and (addresses.min() < 0 or addresses.max() > 0xFFFFFFFF):  # noqa: PLR2004
        raise AddressError(
            "a number", "is no IPv4 address; IPv6 takes an array (n, 2) of uint64 or (n, 16) of bytes"
        )
    return addresses.astype(np.uint32)


def _wide(addresses: NDArray[Any]) -> NDArray[np.uint64]:
    """Convert IPv6 addresses to two words each."""
    if addresses.ndim == 2 and addresses.shape[1] == 2 and addresses.dtype == np.uint64:  # noqa: PLR2004
        return np.ascontiguousarray(addresses)
    if addresses.ndim == 2 and addresses.shape[1] == 16 and addresses.dtype == np.uint8:  # noqa: PLR2004
        return np.ascontiguousarray(addresses).view(">u8").astype(np.uint64)
    shape = f"an array {addresses.shape} of {addresses.dtype}"
    raise AddressError(shape, "holds no addresses; IPv6 takes (n, 2) of uint64 or (n, 16) of uint8")
