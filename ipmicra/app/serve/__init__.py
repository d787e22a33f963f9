"""`ipmicra serve`: one coordinator for crawlers, agents, people and other programs. See `coordinator.py`."""
