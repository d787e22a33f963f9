"""The published migrations 1 to 24, which made SQLite stores what they are; nothing here ever changes.

A store of PostgreSQL begins with the tables as they are described now, so these are for SQLite alone. Later
migrations are written once for both databases: see `migrations.py`.
"""
