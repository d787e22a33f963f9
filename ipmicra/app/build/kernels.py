"""Loading compiled kernels, and telling the user when they have to be compiled first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

from ipmicra.hierarchy.assemble import assemble
from ipmicra.parse.columns import Gatherer

MESSAGE = "compiling kernels; this takes about a minute, once: the result is kept for later runs"


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


def once(say: Callable[[str], None]) -> Callable[[str], None]:
    """Say each thing once."""
    said: set[str] = set()

    def tell(message: str) -> None:
        if message not in said:
            said.add(message)
            say(message)

    return tell


def warm_up() -> None:
    """Load or compile the kernels that a build needs once its dumps are read."""
    assemble(Gatherer().finish())
