"""A store in PostgreSQL: needs the extra `postgres`."""
