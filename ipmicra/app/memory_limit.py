"""Limits of memory, as the command line gets ready for them."""

from __future__ import annotations

from ipmicra.edge.memory_limit import is_limited, prepare_for_limits

__all__ = ["is_limited", "prepare_for_limits"]
