"""The proxy in front of a URLFrontier service."""
