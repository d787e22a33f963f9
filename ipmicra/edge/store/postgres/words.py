"""Words for PostgreSQL: placeholders as it knows them, and the mark of a transaction."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count

_PLACE = re.compile(r"\?")
MARK = (
    "INSERT INTO meta (key, value) VALUES ('{writer}', '{number} {at_s}') "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
"""What a transaction leaves behind: its number, and when that was, in seconds since 1970."""
UNKNOWN = (
    "the server went away while it kept the last rows, and it is unknown whether it has them: "
    "run the same command again when it is back, which does no harm"
)


@lru_cache(maxsize=2048)
def translate(sql: str) -> bytes:
    """Number the placeholders: `a = ? AND b = ?` becomes `a = $1 AND b = $2`."""
    numbers = count(1)
    return _PLACE.sub(lambda _: f"${next(numbers)}", sql).encode()
