"""Worlds with known truth and the papers' experiments: pure and seeded."""
