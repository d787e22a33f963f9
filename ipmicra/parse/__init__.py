"""Parsing: the bytes of a dump in, columns of registrations and findings out."""
