"""Compiled loops over the bytes of a dump; import only where a dump is read."""
