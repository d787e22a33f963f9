"""Measuring round trips: a ladder of ways, the first that answers counts. See `docs/probing.md`."""
