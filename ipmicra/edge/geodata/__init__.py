"""Packaged tables of places."""
