"""Compiled loops of the churn simulation."""
