"""Where a report's data comes from: files of results, a world, later a store."""
