"""Compiled loops over graphs."""
