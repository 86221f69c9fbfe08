"""Looks at the whole installation, part by part, and says what to do about what is wrong."""

import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core import checks
from django.core.mail import get_connection
from django.db import connection, models
from django.db.models import Exists, OuterRef
from django_tasks.base import TaskResultStatus

from catalog.models import Listing, SearchDocument
from catalog.models.listings import ListingStatus
from library.signatures import NotGenuine, read, sign
from marketplace.core import health
from marketplace.core.db import replica
from marketplace.core.db.guards import every_guard
from marketplace.core.ids import new_id
from marketplace.core.objects import object_store
from marketplace.jobs.models import Job

from . import backups, readings

OLDEST: dict[str, tuple[int, ...]] = {"postgresql": (14, 0), "sqlite": (3, 35, 0)}
SKEW_SECONDS = 2.0
LOW_BYTES, FULL_BYTES = 5 * 2**30, 2**29
LATE_SECONDS = 600
LINK_SECONDS = 10
STATIC_FILE = "favicon.svg"
DEPLOYED = "marketplace.settings.production"


class Status(StrEnum):
    """How a part is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """What was found.

    Args:
        part: Of the installation.
        status: How it is.
        sentence: What was seen.
        remedy: What to do; empty where there is nothing to do.
    """

    part: str
    status: Status
    sentence: str
    remedy: str = ""


Part = Callable[[], Iterator[tuple[Status, str, str]]]


def examine(*, backup_folder: Path | None = None) -> Iterator[Finding]:
    """Yield what is found, part by part; a part that cannot be looked at is a finding of its own.

    Args:
        backup_folder: Where backups are kept, if they are to be looked at.
    """
    parts: dict[str, Part] = {
        "settings": _settings,
        "database": _database,
        "migrations": _migrations,
        "constraints": _constraints,
        "clock": _clock,
        "replica": _replica,
        "cache": _cache,
        "objects": _objects,
        "mail": _mail,
        "worker": _worker,
        "search": _search,
        "disk": _disk,
        "certificates": _certificates,
        "static files": _static_files,
        "backup": lambda: _backup(backup_folder),
    }
    for name, part in parts.items():
        try:
            yield from (Finding(name, *found) for found in part())
        except Exception as error:  # noqa: BLE001 - whatever is broken, the other parts are looked at
            yield Finding(
                name, Status.FAIL, f"{type(error).__name__}: {' '.join(str(error).split())}", "See what it says, then run this again."
            )


def _settings() -> Iterator[tuple[Status, str, str]]:
    deployed = settings.SETTINGS_MODULE == DEPLOYED
    found = [message for message in checks.run_checks(include_deployment_checks=deployed) if not message.is_silenced()]
    for message in found:
        status = Status.FAIL if message.level >= checks.ERROR else Status.WARN
        yield status, f"{message.id}: {message.msg}", message.hint or "See Django's list of system checks."
    if deployed and settings.TRUSTED_PROXIES == [] and getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        yield (
            Status.WARN,
            "The proxy's word on TLS is believed, its word on addresses is not.",
            "Set TRUSTED_PROXIES to the proxy's addresses.",
        )
    if getattr(settings, "SECRET_KEY_FALLBACKS", None):
        yield (
            Status.WARN,
            "An old SECRET_KEY is still accepted.",
            "Run `manage.py reseal_secrets` now, and remove SECRET_KEY_FALLBACKS once two weeks have passed since the change.",
        )
    if not found:
        yield Status.OK, f"{settings.SETTINGS_MODULE} has no complaint.", ""


def _database() -> Iterator[tuple[Status, str, str]]:
    version: tuple[int, ...]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT current_setting('server_version'), current_setting('server_version_num')::int, pg_encoding_to_char(encoding)"
                " FROM pg_database WHERE datname = current_database()"
            )
            shown, number, encoding = cursor.fetchone()
            if encoding != "UTF8":
                yield Status.FAIL, f"The database's encoding is {encoding}.", "Make a database with ENCODING 'UTF8' and restore into it."
            version = (number // 10000, number % 10000)
        else:
            cursor.execute("SELECT sqlite_version()")
            (shown,) = cursor.fetchone()
            version = tuple(map(int, shown.split(".")))
    least = OLDEST[connection.vendor]
    if version < least:
        yield Status.FAIL, f"{connection.display_name} is {shown}.", f"Use {'.'.join(map(str, least))} or newer."
    else:
        yield Status.OK, f"{connection.display_name} {shown} answers.", ""


def _migrations() -> Iterator[tuple[Status, str, str]]:
    try:
        health.probe_migrations()
    except health.NotReady as missing:
        yield Status.FAIL, f"{missing}.", "Run `manage.py migrate`."
    else:
        yield Status.OK, "Every migration is applied.", ""


def _constraints() -> Iterator[tuple[Status, str, str]]:
    """Compare the models' constraints and the guards' triggers with what the database has."""
    missing = [f"trigger {name}" for guards in every_guard() for name in guards.missing(connection)]
    counted = 0
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if not model._meta.managed or model._meta.proxy:
                continue
            there = connection.introspection.get_constraints(cursor, model._meta.db_table)
            # A unique constraint with a condition or on an expression is an index.
            named = [
                rule.name
                for rule in model._meta.constraints
                if not isinstance(rule, models.CheckConstraint) or connection.features.supports_table_check_constraints
            ]
            counted += len(named)
            missing += [f"{model._meta.db_table}.{name}" for name in named if name not in there]
    for name in missing:
        yield (
            Status.FAIL,
            f"The database lacks {name}.",
            "Find out who dropped it; triggers come back with `manage.py migrate --skip-checks`.",
        )
    if not missing:
        yield Status.OK, f"All {counted} constraints and every trigger are there.", ""


def _clock() -> Iterator[tuple[Status, str, str]]:
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
            f"Our clock and the database's differ by {skew:.1f} seconds.",
            "Run NTP on both: links, tokens and S3 signatures expire by the clock.",
        )
    else:
        yield Status.OK, "Our clock agrees with the database's.", ""


def _replica() -> Iterator[tuple[Status, str, str]]:
    if not replica.has_replica():
        yield Status.OK, "There is none; the primary answers everything.", ""
        return
    behind = replica.probe()
    status = Status.WARN if behind["lagSeconds"] > 60 else Status.OK
    yield (
        status,
        f"It is {behind['lagBytes']} bytes and {behind['lagSeconds']} seconds behind.",
        "Look at its log and its network." if status != Status.OK else "",
    )


def _cache() -> Iterator[tuple[Status, str, str]]:
    health.probe_cache()
    if any("locmem" in str(entry["BACKEND"]) for entry in settings.CACHES.values()):
        yield Status.OK, "In the memory of the process: right for one process only.", ""
    else:
        yield Status.OK, "It keeps what it is told.", ""


def _objects() -> Iterator[tuple[Status, str, str]]:
    store, key, content = object_store(), f"health/{new_id()}", b"doctor"
    writer = store.create(key)
    writer.write(content)
    writer.commit()
    try:
        if b"".join(store.read(key)) != content:
            yield Status.FAIL, "The store returned other bytes than it was given.", "Do not use it."
            return
        link = store.presigned_url(key, seconds=LINK_SECONDS, filename="doctor.txt", content_type="text/plain")
        yield Status.OK, f"{type(store).__name__} writes, reads and deletes.", ""
        if link is not None:
            yield _followed(link, content)
    finally:
        store.delete(key)


def _followed(link: str, content: bytes) -> tuple[Status, str, str]:
    try:
        with urllib.request.urlopen(link, timeout=LINK_SECONDS) as answer:  # noqa: S310 - our own store's address
            same = answer.read(len(content) + 1) == content
    except urllib.error.HTTPError as refusal:
        remedy = "Check the secret key, the clock, and that the proxy before the store passes on the Host that was asked for."
        return Status.FAIL, f"A presigned link is answered with {refusal.code}.", remedy
    except OSError as error:
        remedy = "Set S3_PUBLIC_ENDPOINT_URL to where browsers reach the store; from this machine it may be out of reach."
        return Status.WARN, f"A presigned link could not be followed: {error}.", remedy
    return (
        (Status.OK, "Presigned links work.", "")
        if same
        else (Status.FAIL, "A presigned link leads to something else.", "Check S3_PUBLIC_ENDPOINT_URL.")
    )


def _mail() -> Iterator[tuple[Status, str, str]]:
    if not settings.MAIL_TRANSPORT.endswith("smtp.EmailBackend"):
        yield Status.WARN, f"Mails go to {settings.MAIL_TRANSPORT}.", "Set EMAIL_URL, or nobody gets a mail."
        return
    server = get_connection(settings.MAIL_TRANSPORT)
    server.open()
    server.close()
    yield Status.OK, "The mail server takes our credentials.", ""


def _worker() -> Iterator[tuple[Status, str, str]]:
    alive, waits = readings.live_workers(), readings.oldest_wait()
    dead = Job.objects.filter(status=TaskResultStatus.FAILED).count()
    if not alive:
        yield Status.WARN, "No worker gave a sign of life.", "Run `manage.py worker`, or the server where WORKER_IN_SERVER is set."
    if waits > LATE_SECONDS:
        yield (
            Status.FAIL,
            f"A job has been waiting for {waits / 60:.0f} minutes.",
            "Run more workers, or see in the admin what holds them up.",
        )
    if dead:
        yield (
            Status.WARN,
            f"{dead} jobs failed for good.",
            "Look at them in the admin under Jobs; start them again there once the cause is gone.",
        )
    if alive and not dead and waits <= LATE_SECONDS:
        yield Status.OK, f"{alive} at work, nothing waits for long.", ""


def _search() -> Iterator[tuple[Status, str, str]]:
    found = SearchDocument.objects.filter(listing=OuterRef("pk"))
    lost = Listing.objects.filter(~Exists(found), status=ListingStatus.PUBLISHED, store__is_open=True).count()
    if lost:
        yield Status.FAIL, f"{lost} listings for sale are not in the search index.", "Run `manage.py rebuild_search`."
    else:
        yield Status.OK, "Every listing for sale is in the search index.", ""


def _disk() -> Iterator[tuple[Status, str, str]]:
    folder = Path(settings.DATA_DIR)
    free = shutil.disk_usage(folder if folder.exists() else folder.parent).free
    status = Status.FAIL if free < FULL_BYTES else Status.WARN if free < LOW_BYTES else Status.OK
    remedy = "" if status == Status.OK else "Make room: uploads wait on this disk, and with the embedded settings everything lies there."
    yield status, f"{free / 2**30:.1f} GiB are free at {folder}.", remedy


def _certificates() -> Iterator[tuple[Status, str, str]]:
    try:
        read(sign({"doctor": True}))
    except NotGenuine:
        yield Status.FAIL, "What CERTIFICATE_KEY signs does not verify.", "Set it to an Ed25519 private key in PEM."
    else:
        retired = len(settings.CERTIFICATE_RETIRED_KEYS)
        yield Status.OK, f"The key signs and verifies; {retired} earlier ones still verify.", ""


def _static_files() -> Iterator[tuple[Status, str, str]]:
    # Only the storage with a manifest has this; it knows names, the folder has files.
    collected: Any = getattr(staticfiles_storage, "hashed_files", None)
    if collected is None:
        there = finders.find(STATIC_FILE) is not None
    else:
        there = STATIC_FILE in collected and staticfiles_storage.exists(collected[STATIC_FILE])
    if there:
        yield Status.OK, "They are where pages look for them.", ""
    else:
        yield Status.FAIL, "They were not collected.", "Run `manage.py collectstatic --no-input`."


def _backup(folder: Path | None) -> Iterator[tuple[Status, str, str]]:
    if folder is None:
        yield Status.WARN, "Backups were not looked at.", "Name their folder with --backups."
        return
    newest = backups.newest(folder)
    if newest is None:
        yield Status.FAIL, f"There is none in {folder}.", "Run `manage.py backup`, daily."
        return
    hours = (datetime.now(tz=UTC) - newest.made_at).total_seconds() / 3600
    status = Status.WARN if hours > 26 else Status.OK
    yield status, f"The newest is {hours:.0f} hours old.", "Run `manage.py backup`, daily." if status == Status.WARN else ""
