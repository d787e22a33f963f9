"""Numbers of the mailboxes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MailboxConfig:
    """Numbers of the exchange."""

    lease_s: float = 15.0
    """A node starts no downloads this long after it sent its last message that was answered."""
    silent_leases: float = 2.0
    """A node that was not heard of for so many leases is dead."""
    most_links: int = 500
    """Links in one answer."""
    look_s: float = 2.0
    """Pause between looks at whether owners have changed."""
    reviewed_per_s: float = 50.0
    """Hosts whose owners are looked at again although nobody says that they changed, on average."""
    ask_again_s: float = 1.0
    """Pause before owners that nobody could tell are asked for again."""
    most_crawls: int = 100
    """Crawls that have nodes at a time."""
    most_alone: int = 20
    """Of these, crawls in which only nodes of one crawler have taken part."""
    most_names: int = 10_000
    """Names of crawls that are remembered, with those that have ended."""
    most_own_names: int = 1_000
    """Of these, names of crawls in which only nodes of one crawler have taken part."""
    most_nodes: int = 1_000
    """Nodes of one crawler in one crawl."""
    most_found: int = 100_000_000
    """Links that nodes of one crawler may add to a crawl, counted anew when a coordinator starts."""
    least_free_bytes: int = 1 << 30
    """What links leave free on the disk: the store needs it."""
    at_a_time: int = 2
    """Messages of one crawler's nodes that are worked on or queued for it; others wait before the queue."""
    most_per_slot: int = 200
    """Links of one slot that a node holds: a slow site must not fill its room."""
