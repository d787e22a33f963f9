"""Partitioning a whole list of sites."""
