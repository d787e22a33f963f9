"""The tests of ipmicra."""
