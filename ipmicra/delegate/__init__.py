"""The delegator: events in, actions out; which crawler gets a subnet, and why."""
