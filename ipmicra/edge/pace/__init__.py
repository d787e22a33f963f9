"""Limits on how slow the other side of an exchange may be. See `rule.py`."""
