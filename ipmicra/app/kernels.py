"""Loading compiled kernels, and telling the user when they have to be compiled first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

from ipmicra.hierarchy.assemble import assemble
from ipmicra.model.registry import Registry
from ipmicra.parse.columns import joined
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.parser import parse_bytes

MESSAGE = "compiling kernels; this takes up to a minute, once: the result is kept for later runs"
_SAMPLES = {
    Dialect.RPSL: b"inetnum: 10.0.0.0/8\nnetname: A\n\ninetnum: 10.0.0.0/8\n\norganisation: B\n",
    Dialect.STATISTICS: b"arin|US|ipv6|2001:db8::|32|20000101|allocated|x\n",
}


class _Announcer(event.Listener):  # type: ignore[misc] # numba is untyped
    """Says once that something is being compiled; what is loaded from the cache goes unmentioned."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._is_said = False

    def on_start(self, _event: object) -> None:
        """Hear that a compilation starts."""
        if not self._is_said:
            self._is_said = True
            self._say(MESSAGE)

    def on_end(self, _event: object) -> None:
        """Hear that a compilation ends."""


@contextmanager
def compiling_announced(say: Callable[[str], None]) -> Iterator[None]:
    """Say so if anything inside has to be compiled."""
    announcer = _Announcer(say)
    event.register("numba:compile", announcer)
    try:
        yield
    finally:
        event.unregister("numba:compile", announcer)


def warm_up() -> None:
    """Load or compile every kernel that a build needs, on a handful of bytes."""
    assemble(joined([parse_bytes(text, dialect, Registry.RIPE) for dialect, text in _SAMPLES.items()]))
