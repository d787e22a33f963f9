"""Explaining why a site has its crawler."""
