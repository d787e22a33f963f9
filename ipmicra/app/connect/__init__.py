"""The library and the command line as clients of a running coordinator. See `client.py`."""
