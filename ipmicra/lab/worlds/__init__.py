"""Invented worlds and populations: pure and seeded."""
