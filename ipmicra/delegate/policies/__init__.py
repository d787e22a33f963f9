"""Ways to choose a crawler, all behind one interface."""
