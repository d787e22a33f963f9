"""Messages between coordinator and agent: JSON, versioned, validated, limited in size.

A coordinator posts one `ProbeRequest`. The agent answers line by line (NDJSON): an `Answer` for each order,
in the order in which they are done, and an `End` with their number, so that a cut answer is noticed. What an
agent cannot take is reported in an `ErrorMessage`. A `NamesRequest` (in `names.py`) is answered in the same
manner, with a `ResolvedName` for each name. Nothing here touches network or clock.
"""
