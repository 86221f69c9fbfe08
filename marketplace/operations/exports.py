"""Exports of a user's personal data: requested on a page, written by a job, downloaded until they expire."""

import base64
import uuid
import zlib
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt
from marketplace.core.ids import new_id
from marketplace.core.transitions import lock
from marketplace.jobs.policy import Retries, job
from marketplace.ui.mail import mail

from .errors import ExportRequestedRecently
from .models import AccountExport
from .personal_data import export_lines

RETENTION = timedelta(days=7)
# Minimum time between two requests: an export is costly, and one not ready by then was lost with its job.
MIN_INTERVAL = timedelta(hours=1)
PURPOSE = "account-export"


@transaction.atomic
def request_export(*, user: User, actor: User) -> AccountExport:
    """Request an export, which replaces the previous one.

    Raises:
        ExportRequestedRecently: one was requested within the last hour.
        NotFound: the account is not active.
    """
    now = timezone.now()
    # Serialises concurrent requests, and checks that the account still exists.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    last = AccountExport.objects.filter(user=user).first()
    if last is not None and last.requested_at > now - MIN_INTERVAL:
        raise ExportRequestedRecently
    AccountExport.objects.filter(user=user).delete()
    export = AccountExport.objects.create(id=new_id(), user=user, requested_at=now, expires_at=now + RETENTION)
    audit.record("user.export", user, actor=actor)
    write_export.enqueue(str(export.pk))
    return export


@job(retries=Retries(attempts=6, first_seconds=30))
def write_export(export_id: str) -> None:
    """Write a requested export and notify the user; do nothing if it was replaced or deleted."""
    with transaction.atomic():
        # The owner's row is not locked: an account deletion holds it while it waits for this row.
        export = (
            AccountExport.objects.select_for_update(of=("self",))
            .select_related("user")
            .filter(pk=uuid.UUID(export_id), encrypted="")
            .first()
        )
        if export is None:
            return
        compressor, compressed = zlib.compressobj(9), bytearray()
        for line in export_lines(export.user):
            compressed += compressor.compress(text := line.encode())
            export.size += len(text)
        compressed += compressor.flush()
        export.encrypted = encrypt(base64.b64encode(compressed).decode("ascii"), purpose=PURPOSE)
        export.expires_at = timezone.now() + RETENTION
        export.save(update_fields=["encrypted", "size", "expires_at"])
        mail(export.user, "accounts/export_ready", days=RETENTION.days)


def export_of(user: User) -> AccountExport | None:
    """Return the user's export, ready or not; None if there is none or it has expired."""
    return AccountExport.objects.defer("encrypted").filter(user=user, expires_at__gt=timezone.now()).first()


def read_export(user: User) -> bytes | None:
    """Return the user's export as JSON text; None if there is none to download."""
    export = AccountExport.objects.filter(user=user, expires_at__gt=timezone.now()).exclude(encrypted="").first()
    if export is None:
        return None
    try:
        return zlib.decompress(base64.b64decode(decrypt(export.encrypted, purpose=PURPOSE)))
    except DecryptionFailed:
        # It was encrypted with a key that no longer exists.
        return None
