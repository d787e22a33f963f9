"""Limits of memory, as the command line gets ready for them."""

from __future__ import annotations

from ipmicra.edge.memory_limit import prepare_for_limits

__all__ = ["prepare_for_limits"]
