"""Delegating with a real fleet: the sans-IO machine driven by seeds, agents and the store.

| file | has |
|---|---|
| `options.py` | what a user asks for, and every number of the driver |
| `batch.py` | `ipmicra delegate`: lists of seeds, resumable after a crash |
| `delegator.py` | `ipmicra.Delegator`, the library's way in |
| `session.py` | all that is open while something is delegated |
| `restoring.py` | the machine restored from the store: crawlers, delegations, what samples taught |
| `driver.py` | events in, actions carried out: sites held back, answers written before they are handed on |
| `probe_queue.py` | probes on their way to agents, those of an earlier run answered from the store |
| `scattered_sites.py` | names resolved at agents; sites that crawlers see at different addresses |
| `known_views.py` | what of that is known, and need not be asked again |
| `new_edition.py` | delegations of another edition of the hierarchy carried over |
| `missing_registrations.py` | registrations that the dumps lack, asked for one by one |
| `locations.py` | where sites are, and which prefixes are anycast |
| `dry_run.py`, `plan_views.py` | how many probes a batch could take, and how many names must be asked for |
"""
