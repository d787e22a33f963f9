"""The tree of subnets: nesting, the `.ipm` format, look-ups."""
