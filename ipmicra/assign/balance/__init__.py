"""Fair load: which crawler takes a site, or a piece of one, when the nearest has its hands full."""
