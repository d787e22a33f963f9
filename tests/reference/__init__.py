"""Slow twins: obviously right readings of what the package does fast."""
