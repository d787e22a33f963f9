"""Who crawls a piece: one small policy a file."""
