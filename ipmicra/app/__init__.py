"""Use cases: the only place where the core meets the edge."""
