"""The coordinator's side of probing: orders to agents, paid from a budget. See `orders.py`."""
