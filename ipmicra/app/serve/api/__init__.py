"""The HTTP API of a coordinator: one file per resource, all of them listed in `app.py`."""
