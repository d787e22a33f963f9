"""Where an address is: six heuristics, their votes, and what physics says of them."""
