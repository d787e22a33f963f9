"""Worlds on disk: a folder of three tables, or one file of measurements."""
