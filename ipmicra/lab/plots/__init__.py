"""Plots of the experiments, drawn with matplotlib."""
