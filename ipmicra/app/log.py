"""Logging, as the command line starts it."""

from __future__ import annotations

from ipmicra.edge.log import is_debugging, log_as_json, log_traceback, set_up_logging

__all__ = ["is_debugging", "log_as_json", "log_traceback", "set_up_logging"]
