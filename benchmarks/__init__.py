"""Benchmarks, and the generators of the dumps they read."""
