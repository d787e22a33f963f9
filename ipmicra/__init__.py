"""Location-aware delegation of web sites to crawlers, on the Internet's own address hierarchy.

The public names are in `__init__.pyi`. Each is loaded when it is first used: a look-up needs neither numpy
nor the builder.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
