"""Nouns as plain dictionaries: what `--json` prints. One module per family of nouns, and no other place."""
