"""The coordinator's web page: the fleet, its work, and why a site has its crawler; for people with a token.

Pages are rendered here (`templates/`), and use the report's drawings, style and scripts. The browser gets no
secret but a cookie of its session, may load and ask nothing but this coordinator (`policy.py`), and hears of
changes by server-sent events (`stream.py`). Nothing here changes anything but the session itself.
"""
