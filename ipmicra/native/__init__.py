"""Compiled loops: C sources, and `kernels`, the extension module that the build back end makes of them.

`docs/decisions` says why C on the stable ABI; each source opens with how it works. Nothing here knows Python
objects except `python/`, which checks every array before it releases the GIL.
"""
