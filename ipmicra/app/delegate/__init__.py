"""Delegating with a real fleet: the sans-IO delegator driven by seeds, agents and the store.

| file | has |
|---|---|
| `options.py` | what a user asks for, and every number of the driver |
| `session.py` | all that is open while something is delegated |
| `opening.py` | the machine as the store left it: crawlers, delegations, what samples taught |
| `carrying.py` | delegations of another edition brought into this one |
| `driver.py` | events in, actions carried out |
| `probes.py` | probes on their way to agents, those of an earlier run answered from the store |
| `gate.py` | few subnets of a parent at a time |
| `writer.py` | what is kept, in transactions, before anybody is told |
| `batch.py` | lists of seeds, gone on with after a crash |
| `facade.py` | `ipmicra.Delegator` |
"""
