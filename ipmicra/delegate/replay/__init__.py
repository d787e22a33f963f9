"""Worlds with known round trips, and delegators replayed in them."""
