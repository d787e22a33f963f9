"""Serving HTTP: what agents and coordinators share."""
