"""`python -m ipmicra`."""

from ipmicra.cli.main import run

run()
