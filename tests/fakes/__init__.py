"""Fakes: quick, plain stand-ins that pass the same contracts as the real things."""
