"""Backends that answer for a site from network coordinates: coordinates, and the overlay of zones."""
