"""Locating targets and sites: clues, votes, and round trips by distance."""
