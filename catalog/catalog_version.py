"""The catalog's version: a cached response is valid while the version that was read before it was built is the current one.

A version is a random value that is never reused, so that neither a restored backup nor a standby that takes over makes
an old response valid. Purchases do not change it, but each run that counts them does (`count_purchases`).
"""

import secrets

from django.db import connection

from .models import CatalogVersion


def current_version() -> str:
    """Return the committed version, or the transaction's own if it has changed it."""
    with connection.cursor() as cursor:
        # Run with every request: the ORM would take several times as long to build the statement as the database takes to run it.
        cursor.execute("SELECT value FROM catalog_catalogversion WHERE id = 1")
        row = cursor.fetchone()
    return str(row[0]) if row else change_version()


def change_version() -> str:
    """Set a new version and return it. Other transactions that change the version wait until this one ends."""
    value = secrets.token_hex(16)
    CatalogVersion.objects.bulk_create([CatalogVersion(value=value)], update_conflicts=True, unique_fields=["id"], update_fields=["value"])
    return value
