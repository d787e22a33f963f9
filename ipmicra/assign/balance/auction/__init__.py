"""The auction: `assigner.py` is the entry, `sticky.py` decides what stays, `groups.py` what goes together."""
