"""A small Internet on 127.0.0.0/8: real agents, real HTTP servers, and known round trips between them.

```python
with LoopbackInternet(world) as internet:  # world = load_world(folder), or a LoopbackWorld of one's own
    internet.crawlers  # with the URLs of their agents
    internet.access  # what a coordinator needs to connect
```

Nothing outside loopback is ever contacted: agents translate each address of the world to one of 127.0.0.0/8,
and refuse all others. A kernel completes handshakes on loopback by itself, so delays sit before the first
byte, and orders must start at the HEAD rung and name the port of the sites (`internet.port`, scheme `http`).
"""
