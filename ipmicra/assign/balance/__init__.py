"""Load balancing: which crawler takes a site, or a piece of one, when the nearest is busy."""
