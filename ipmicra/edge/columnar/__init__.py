"""Columns of addresses and subnets in Arrow, and tables of Parquet."""
