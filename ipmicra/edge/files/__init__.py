"""Files that users write and read: seeds, crawlers, sites, samples, worlds."""
