"""Building a hierarchy file from dumps."""
