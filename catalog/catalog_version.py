"""The catalog's version: a cached answer is valid as long as the version that was read before it was built is the present one.

A version is a random value and never comes again, so that neither a backup that is restored nor a standby that takes over makes
an old answer valid. Purchases do not change it, but each run that counts them does (`popularity`).
"""

import secrets

from django.db import connection

from .models import CatalogVersion


def current_version() -> str:
    """Return the version of what was committed; inside of a transaction that has changed it, its own."""
    with connection.cursor() as cursor:
        # Asked with every request: the ORM would take several times as long to build the statement as the database takes to run it.
        cursor.execute("SELECT value FROM catalog_catalogversion WHERE id = 1")
        row = cursor.fetchone()
    return str(row[0]) if row else change_version()


def change_version() -> str:
    """Give the catalog a new version and return it. Inside of a transaction, the next one to do so waits for its end."""
    value = secrets.token_hex(16)
    CatalogVersion.objects.bulk_create([CatalogVersion(value=value)], update_conflicts=True, unique_fields=["id"], update_fields=["value"])
    return value
