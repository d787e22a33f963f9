"""Wide reads and searches in byte buffers: what numba itself has no words for.

Every function reads up to 32 bytes past the position it is given, so buffers end in `sheets.PADDING` spare
bytes.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BYTE = ir.IntType(8)
_WORD = ir.IntType(64)
_LANES = ir.VectorType(_BYTE, 32)
_BROADCAST = ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Emit the address of one byte of an array."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def match32(_typing: Any, buffer: Any, _position: Any, _byte: Any) -> Any:
    """Set bit i where byte i of the 32 at the position equals the wanted one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        lanes = builder.load(builder.bitcast(pointer, _LANES.as_pointer()), align=1)
        nothing = ir.Constant(_LANES, ir.Undefined)
        one = builder.insert_element(nothing, args[2], ir.Constant(ir.IntType(32), 0))
        wanted = builder.shuffle_vector(one, nothing, _BROADCAST)
        return builder.bitcast(builder.icmp_unsigned("==", lanes, wanted), ir.IntType(32))

    return types.uint32(buffer, types.int64, types.uint8), emit


@intrinsic
def load64(_typing: Any, buffer: Any, _position: Any) -> Any:
    """Read eight bytes as a little-endian word, aligned or not."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load(builder.bitcast(pointer, _WORD.as_pointer()), align=1)

    return types.uint64(buffer, types.int64), emit


@intrinsic
def store64(_typing: Any, buffer: Any, _position: Any, _word: Any) -> Any:
    """Write eight bytes as a little-endian word, aligned or not."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(pointer, _WORD.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(buffer, types.int64, types.uint64), emit


@intrinsic
def trailing_zeros(_typing: Any, _mask: Any) -> Any:
    """Count the zero bits below the lowest set bit; 32 where none is set."""

    def emit(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        count = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.zext(count, _WORD)

    return types.int64(types.uint32), emit


@intrinsic
def prefetch(_typing: Any, array: Any, _index: Any) -> Any:
    """Ask for an element that will be read soon, without waiting for it."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        number = ir.IntType(32)
        pointer_type = _BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer_type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        arguments = [builder.bitcast(pointer, pointer_type), number(0), number(1), number(1)]
        builder.call(function, arguments)
        return context.get_dummy_value()

    return types.void(array, types.int64), emit


@intrinsic
def borrow(_typing: Any, array: Any) -> Any:
    """Give the same array without a reference count.

    Counting references is an atomic operation at every call that passes an array: with it, reading a dump is
    some twenty times slower. The caller keeps the array alive.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        proxy = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
        proxy.meminfo = ir.Constant(proxy.meminfo.type, None)
        proxy.parent = ir.Constant(proxy.parent.type, None)
        return proxy._getvalue()  # noqa: SLF001

    return array(array), emit


@numba.njit(nogil=True, cache=True)
def find(buffer, position, byte):
    """Give the position of the next such byte; one must exist before the padding ends."""
    while True:
        mask = match32(buffer, position, byte)
        if mask != 0:
            return position + trailing_zeros(mask)
        position += 32


@numba.njit(nogil=True, cache=True)
def is_blank(byte):
    """Tell whether a byte is a space or a tab."""
    return byte == 32 or byte == 9


@numba.njit(nogil=True, cache=True)
def trim(buffer, start, end):
    """Narrow a span by the spaces and tabs at its ends."""
    if start < end and buffer[start] == 32:  # mostly some ten spaces behind a key: all at once
        start = min(start + trailing_zeros(~match32(buffer, start, np.uint8(32))), end)
    while start < end and is_blank(buffer[start]):
        start += 1
    while end > start and is_blank(buffer[end - 1]):
        end -= 1
    return start, end


@numba.njit(nogil=True, cache=True)
def cut_comment(buffer, start, end):
    """Narrow a span to what stands before a `#`, trimmed."""
    position = start
    while position < end:
        mask = match32(buffer, position, np.uint8(35))
        if mask != 0:
            found = position + trailing_zeros(mask)
            return trim(buffer, start, min(found, end))
        position += 32
    return start, end
