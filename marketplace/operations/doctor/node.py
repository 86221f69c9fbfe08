"""Checks of this node: settings, disk, keys, static files, backups."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core import checks

from library.signatures import NotGenuine, sign, verify

from .. import backups
from .findings import CheckResults, Status

LOW_BYTES, FULL_BYTES = 5 * 2**30, 2**29
STATIC_FILE = "favicon.svg"


def check_settings() -> CheckResults:
    """Run the system checks."""
    deployed = settings.SETTINGS_MODULE == "marketplace.settings.production"
    found = [message for message in checks.run_checks(include_deployment_checks=deployed) if not message.is_silenced()]
    for message in found:
        status = Status.FAIL if message.level >= checks.ERROR else Status.WARN
        yield status, f"{message.id}: {message.msg}", message.hint or "See Django's list of system checks."
    if deployed and settings.TRUSTED_PROXIES == [] and getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        yield (
            Status.WARN,
            "The proxy's TLS header is trusted, but its client addresses are not.",
            "Set TRUSTED_PROXIES to the proxy's addresses.",
        )
    if settings.SECRET_KEY_FALLBACKS:
        yield (
            Status.WARN,
            "An old SECRET_KEY is still accepted.",
            "Run `manage.py reencrypt_secrets` now, and remove SECRET_KEY_FALLBACKS once two weeks have passed since the change.",
        )
    if not found:
        yield Status.OK, "The system checks found nothing.", ""


def check_disk() -> CheckResults:
    """Check the free space of the disk of `DATA_DIR`."""
    folder = Path(settings.DATA_DIR)
    free = shutil.disk_usage(folder if folder.exists() else folder.parent).free
    status = Status.FAIL if free < FULL_BYTES else Status.WARN if free < LOW_BYTES else Status.OK
    remedy = "" if status == Status.OK else "Free some space: with the embedded settings all data is stored there."
    yield status, f"{free / 2**30:.1f} GiB are free at {folder}.", remedy


def check_certificates() -> CheckResults:
    """Check that the signing key signs and verifies."""
    try:
        verify(sign({"doctor": True}))
    except NotGenuine:
        yield Status.FAIL, "Signatures made with CERTIFICATE_KEY don't verify.", "Set it to an Ed25519 private key in PEM."
    else:
        retired = len(settings.CERTIFICATE_RETIRED_KEYS)
        yield Status.OK, f"The key signs and verifies; {retired} earlier ones still verify.", ""


def check_static_files() -> CheckResults:
    """Check that static files are found."""
    # Only the storage with a manifest has this attribute.
    collected: Any = getattr(staticfiles_storage, "hashed_files", None)
    if collected is None:
        there = finders.find(STATIC_FILE) is not None
    else:
        there = STATIC_FILE in collected and staticfiles_storage.exists(collected[STATIC_FILE])
    if there:
        yield Status.OK, "The static files are available.", ""
    else:
        yield Status.FAIL, "The static files have not been collected.", "Run `manage.py collectstatic --no-input`."


def check_backup(folder: Path | None) -> CheckResults:
    """Check the age of the newest backup."""
    if folder is None:
        yield Status.WARN, "Backups were not checked.", "Pass their folder with --backups."
        return
    newest = backups.newest(folder)
    if newest is None:
        yield Status.FAIL, f"There is no backup in {folder}.", "Run `manage.py backup`, daily."
        return
    hours = (datetime.now(tz=UTC) - newest.made_at).total_seconds() / 3600
    status = Status.WARN if hours > 26 else Status.OK
    yield status, f"The newest backup is {hours:.0f} hours old.", "Run `manage.py backup`, daily." if status == Status.WARN else ""
