"""Database connections of a thread."""

from django.db import connections


def release_connections() -> None:
    """Close this thread's database connections that are in no transaction, before it waits for a client."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
