"""Where a report's data comes from: files of results, a world, a store."""
