"""The papers' experiments: pure and seeded."""
