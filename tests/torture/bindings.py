"""What Python calls of compiled code, with every allocation of Python's own refused once.

`failing_memory.c` refuses what compiled code asks of the system. Its bindings ask Python, for objects that
they return and buffers that they view. Calls are recorded while the pieces of work run; then each is
repeated, and the n-th allocation inside of it is refused, by CPython's own means for such tests. It ends with
MemoryError or returns; any other error, a missing one and a crash are findings.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import numpy as np

from ipmicra.hierarchy.finder import new_finder
from ipmicra.hierarchy.rendering import Targets
from ipmicra.native import kernels
from tests.cli.command_line import DUMP
from tests.reference.fast_building import built

KEPT = 2
"""Calls of a function that are repeated."""
MOST, ENOUGH = 400, 5
"""Allocations of a call at most, and calls in a row without a refusal after which it has no more."""
Call = tuple[str, Callable[..., Any], tuple[Any, ...]]


@contextmanager
def recording() -> Iterator[list[Call]]:
    """Record the calls of functions of the compiled module, with copies of what they are given."""
    calls: list[Call] = []
    plain = {
        name: one
        for name in dir(kernels)
        if callable(one := getattr(kernels, name)) and not isinstance(one, type)
    }

    def recorder(name: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            if sum(one[0] == name for one in calls) < KEPT:
                calls.append((name, plain[name], tuple(map(_copied, given))))
            return plain[name](*given)

        return call

    try:
        for name in plain:
            setattr(kernels, name, recorder(name))
        yield calls
    finally:
        for name, one in plain.items():
            setattr(kernels, name, one)


def _copied(given: Any) -> Any:
    try:
        return copy.deepcopy(given)
    except TypeError:  # a view into a file
        return given


def methods() -> list[Call]:
    """Return calls of the types of the compiled module, and of their methods."""
    text = DUMP.encode()
    sheet, gatherer, tree = kernels.Sheet(), kernels.Gatherer(), built(text)
    sheet.read_paragraphs(text, len(text), 0)
    finder, wide = tree._finder, np.array([[1, 2], [3, 4]], np.uint64)
    rows = np.zeros(2, np.uint32)
    run, _ = Targets.read(b"10.0.0.1\n2001:db8::1\n", 0)
    whole: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
        ("Sheet", kernels.Sheet, ()),
        ("Gatherer", kernels.Gatherer, ()),
        ("Sheet.read_paragraphs", kernels.Sheet().read_paragraphs, (text, len(text), 0)),
        (
            "Sheet.read_statistics",
            kernels.Sheet().read_statistics,
            (b"ripencc|FR|ipv4|2.0.0.0|256|20100712|a\n", 39),
        ),
        ("Sheet.read_iana", kernels.Sheet().read_iana, (tuple([b"000/8"] * 5), 1)),
        ("Gatherer.add", lambda: kernels.Gatherer().add(sheet), ()),
        ("Gatherer.join", lambda: kernels.Gatherer().join(gatherer), ()),
        ("Gatherer.counts", gatherer.counts, ()),
        ("Gatherer.finish", lambda: kernels.Gatherer().finish(), ()),
        ("Finder", lambda: new_finder(tree._sections), ()),
        ("Finder.row_of text", finder.row_of, ("2001:db8::1",)),
        ("Finder.row_of address", finder.row_of, (IPv6Address(1),)),
        ("Finder.rows_of_narrow", finder.rows_of_narrow, (np.array([1, 2], np.uint32), rows)),
        ("Finder.rows_of_wide", finder.rows_of_wide, (wide, rows)),
        ("Finder.rows_of_run", finder.rows_of_run, (run.words, memoryview(bytearray(8)).cast("I"))),
    ]
    return whole


def refused_each(call: Call) -> tuple[int, str]:
    """Repeat a call in a child, each time with another allocation refused; return how many were noticed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.write(writing, pickle.dumps(_refuse(call)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if not data:
        return 0, f"ended with {os.waitstatus_to_exitcode(status)}"
    refused, wrong = pickle.loads(data)
    return int(refused), str(wrong)


def _refuse(call: Call) -> tuple[int, str]:
    import _testcapi  # of CPython's own tests; not everywhere

    _, function, given = call
    refused = passed = 0
    for at in range(MOST):
        again = tuple(map(_copied, given))
        try:
            _testcapi.set_nomemory(at, at + 1)
            function(*again)
        except MemoryError:
            refused, passed = refused + 1, 0
        except BaseException as error:  # noqa: BLE001 - a finding
            _testcapi.remove_mem_hooks()
            return refused, f"allocation {at}: {type(error).__name__}: {error}"
        else:
            passed += 1
        finally:
            _testcapi.remove_mem_hooks()
        if passed == ENOUGH:
            break
    return refused, ""


def campaign(works: Iterable[Callable[[Path], bytes]], folder: Path) -> int:
    """Refuse allocations of Python's in all calls; return the number of findings."""
    try:
        import _testcapi  # noqa: F401
    except ImportError:
        print("bindings: left out: this Python has no _testcapi")  # noqa: T201
        return 0
    with recording() as calls:
        for work in works:
            work(folder)
    found = total = 0
    calls += methods()
    for call in calls:
        refused, wrong = refused_each(call)
        total += refused
        if wrong:
            found += 1
            print(f"bindings: {call[0]}: {wrong}", flush=True)  # noqa: T201
    names = len({name for name, _, _ in calls})
    print(f"bindings: {names} functions, {len(calls)} calls, {total:,} ended in MemoryError", flush=True)  # noqa: T201
    return found
