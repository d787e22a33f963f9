"""Loading compiled kernels, and telling the user when they have to be compiled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ipmicra.hierarchy.assemble import assemble
from ipmicra.model.registry import Registry
from ipmicra.parse.columns import Gatherer
from ipmicra.parse.dialect import Dialect
from ipmicra.parse.parser import parse_bytes

PATIENCE_S = 2.5
"""Loading compiled kernels takes less; compiling them takes more."""
MESSAGE = "compiling kernels; this takes up to a minute, once: the result is kept for later runs"
_SAMPLES = {
    Dialect.RPSL: b"inetnum: 10.0.0.0/8\nnetname: A\n\ninetnum: 10.0.0.0/8\n\norganisation: B\n",
    Dialect.STATISTICS: b"arin|US|ipv6|2001:db8::|32|20000101|allocated|x\n",
}


@contextmanager
def compiling_announced(say: Callable[[str], None]) -> Iterator[None]:
    """Say so if what happens inside takes as long as only compiling does."""
    timer = threading.Timer(PATIENCE_S, say, [MESSAGE])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def warm_up() -> None:
    """Load or compile every kernel that a build needs, on a handful of bytes."""
    gatherer = Gatherer()
    for dialect, text in _SAMPLES.items():
        gatherer.join(parse_bytes(text, dialect, Registry.RIPE))
    assemble(gatherer.finish())
