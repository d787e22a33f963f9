"""METIS: `graph.py` builds graphs, `cut.py` cuts, `refine.py` improves, `mapping.py` numbers the parts."""
