"""Limits on how slow the other side of an exchange may be. See `meter.py` for the rule."""
