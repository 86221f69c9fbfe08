"""Checks of the database: version, migrations, constraints, clock and search index."""

import time

from django.apps import apps
from django.db import connection, models
from django.db.models import Exists, OuterRef

from catalog.models import Listing, SearchDocument
from catalog.models.listings import ListingStatus
from marketplace.core.triggers import TRIGGER_SETS
from marketplace.monitoring import health

from .findings import CheckResults, Status

OLDEST_VERSIONS: dict[str, tuple[int, ...]] = {"postgresql": (14, 0), "sqlite": (3, 35, 0)}
SKEW_SECONDS = 2.0


def check_database() -> CheckResults:
    """Check the database's version and encoding."""
    version: tuple[int, ...]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT current_setting('server_version'), current_setting('server_version_num')::int, pg_encoding_to_char(encoding)"
                " FROM pg_database WHERE datname = current_database()"
            )
            shown, number, encoding = cursor.fetchone()
            if encoding != "UTF8":
                yield Status.FAIL, f"The database's encoding is {encoding}.", "Create a database with ENCODING 'UTF8' and restore into it."
            version = (number // 10000, number % 10000)
        else:
            cursor.execute("SELECT sqlite_version()")
            (shown,) = cursor.fetchone()
            version = tuple(map(int, shown.split(".")))
    oldest = OLDEST_VERSIONS[connection.vendor]
    if version < oldest:
        yield Status.FAIL, f"The version of {connection.display_name} is {shown}.", f"Use {'.'.join(map(str, oldest))} or newer."
    else:
        yield Status.OK, f"{connection.display_name} {shown} answers.", ""


def check_migrations() -> CheckResults:
    """Check that all migrations are applied."""
    try:
        health.probe_migrations()
    except health.NotReady as missing:
        yield Status.FAIL, f"{missing}.", "Run `manage.py migrate`."
    else:
        yield Status.OK, "Every migration is applied.", ""


def check_constraints() -> CheckResults:
    """Compare the models' constraints and the triggers with what the database has."""
    missing = [f"trigger {name}" for triggers in TRIGGER_SETS for name in triggers.missing(connection)]
    counted = 0
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if not model._meta.managed or model._meta.proxy:
                continue
            existing = connection.introspection.get_constraints(cursor, model._meta.db_table)
            # A unique constraint with a condition or on an expression is an index.
            named = [
                constraint.name
                for constraint in model._meta.constraints
                if not isinstance(constraint, models.CheckConstraint) or connection.features.supports_table_check_constraints
            ]
            counted += len(named)
            missing += [f"{model._meta.db_table}.{name}" for name in named if name not in existing]
    for name in missing:
        yield (
            Status.FAIL,
            f"The database lacks {name}.",
            "Find out who dropped it. `manage.py migrate --skip-checks` recreates triggers.",
        )
    if not missing:
        yield Status.OK, f"All {counted} constraints and all triggers exist.", ""


def check_clock() -> CheckResults:
    """Compare our clock with the database's."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM clock_timestamp())"
            if connection.vendor == "postgresql"
            else "SELECT (julianday('now') - 2440587.5) * 86400"
        )
        skew = abs(float(cursor.fetchone()[0]) - time.time())
    if skew > SKEW_SECONDS:
        yield (
            Status.FAIL,
            f"This machine's clock and the database's differ by {skew:.1f} seconds.",
            "Run NTP on both: links, tokens and S3 signatures depend on the time.",
        )
    else:
        yield Status.OK, "The clock agrees with the database's.", ""


def check_search() -> CheckResults:
    """Check that all listings on sale are in the search index."""
    found = SearchDocument.objects.filter(listing=OuterRef("pk"))
    lost = Listing.objects.filter(~Exists(found), status=ListingStatus.PUBLISHED, store__is_open=True).count()
    if lost:
        yield Status.FAIL, f"{lost} listings for sale are not in the search index.", "Run `manage.py rebuild_search`."
    else:
        yield Status.OK, "Every listing on sale is in the search index.", ""
