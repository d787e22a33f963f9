"""The plots of the report, as scenes that become SVG or PNG."""
