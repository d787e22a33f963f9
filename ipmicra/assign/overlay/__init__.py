"""The overlay: a box of coordinate space for each crawler, as in a content-addressable network (CAN)."""
