"""Links between sites: counted ones, and invented ones where nobody knows the real ones."""
