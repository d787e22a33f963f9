"""Measurements that users already have, in whatever form they keep them."""
