"""Compiled loops of the overlay."""
