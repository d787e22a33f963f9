"""`ipmicra frontier`: URLs go to the queues of their owners."""
