"""URLs that belong to another crawler: sent in batches, each URL crawled once."""
