"""Worlds with known round trips, and replays of policies in them."""
