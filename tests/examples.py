"""How many examples a law is tried with."""

from __future__ import annotations

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fast")
"""`fast`, or `thorough` as `bin/test --thorough` sets it."""
THOROUGH_EXAMPLES = 2000


def at_most(examples: int, **limits: object) -> settings:
    """Limit a law whose examples are expensive; a thorough run tries it as often as every other law."""
    count = THOROUGH_EXAMPLES if PROFILE == "thorough" else examples
    return settings(max_examples=count, **limits)  # type: ignore[arg-type]
