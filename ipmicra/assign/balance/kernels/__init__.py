"""Compiled loops of the assigner."""
