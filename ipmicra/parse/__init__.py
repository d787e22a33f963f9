"""Bytes of a dump in, columns of registrations and findings out."""
