"""The command line: each command reads arguments, calls `app` and prints."""
