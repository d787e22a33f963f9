"""Small real servers on loopback, for what HTTP itself can break."""
