"""Links between sites: counted ones, and invented ones where the real ones are unknown."""
