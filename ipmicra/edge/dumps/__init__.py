"""Reading registry dumps from disk."""
