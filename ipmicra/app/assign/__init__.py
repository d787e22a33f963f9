"""Assigning sites to crawlers: near, fair in load, and stable from call to call."""
