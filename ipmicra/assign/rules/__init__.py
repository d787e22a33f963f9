"""Vantage and rules: which crawlers may own a site, and from where it must be seen."""
