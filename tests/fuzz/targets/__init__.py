"""Python targets, by the module that has them."""

MODULE_OF = {
    name: module
    for module, names in {
        "bindings": "bindings",
        "bodies": "bodies",
        "dumps": "dumps packed-dumps",
        "hierarchies": "hierarchies",
        "messages": "messages join-tokens",
        "network": "dns-answers http-heads rdap-answers frontier",
        "places": "geofeeds known-places domains",
        "tables": "tables crawler-lists seed-lists url-lists matrices cells",
        "texts": "seeds rules values",
    }.items()
    for name in names.split()
}
"""Importing a module registers its targets; only what a target needs is instrumented."""
