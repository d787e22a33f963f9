"""Assignments for other programs. See `formats.py`."""
