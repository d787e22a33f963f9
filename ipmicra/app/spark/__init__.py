"""Tables of Spark: subnets, owners, and hosts by subnet."""
