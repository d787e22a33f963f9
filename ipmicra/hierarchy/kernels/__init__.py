"""Compiled loops of building and of large look-ups; import only where one runs."""
