"""Everything that touches disk, network, clock, randomness or SQL."""
