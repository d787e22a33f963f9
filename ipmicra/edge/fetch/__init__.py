"""Downloading dumps: resumable, conditional, checked against published checksums."""
