"""Every way to partition a list; `registry.py` has them under their names."""
