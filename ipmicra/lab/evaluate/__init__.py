"""Evaluating policies on worlds with known round trips."""
