"""Exports of a user's personal data: requested on a page, written by a job, downloaded until they expire."""

import base64
import json
import uuid
import zlib
from datetime import timedelta

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt
from marketplace.core.ids import new_id
from marketplace.core.transitions import lock
from marketplace.jobs.policy import Retries, job
from marketplace.ui.mail import mail

from .errors import ExportUnderWay
from .models import AccountExport
from .people import export_account

KEPT = timedelta(days=7)
# What lies between two: writing one costs much, and one that is not there by then was lost with its job.
PATIENCE = timedelta(hours=1)
PURPOSE = "account-export"


@transaction.atomic
def request_export(*, user: User, actor: User) -> AccountExport:
    """Have a copy written; it takes the place of the one before.

    Raises:
        ExportUnderWay: one was asked for within the hour.
        NotFound: the account is shut.
    """
    now = timezone.now()
    # Its row decides who of two was first, and whether there is still someone to write it for.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    last = AccountExport.objects.filter(user=user).first()
    if last is not None and last.requested_at > now - PATIENCE:
        raise ExportUnderWay
    AccountExport.objects.filter(user=user).delete()
    export = AccountExport.objects.create(id=new_id(), user=user, requested_at=now, expires_at=now + KEPT)
    audit.record("user.export", user, actor=actor)
    write_export.enqueue(str(export.pk))
    return export


@job(retries=Retries(attempts=6, first=30))
def write_export(export_id: str) -> None:
    """Write a copy that was asked for, and tell its owner; one that was asked for anew or is gone is left."""
    with transaction.atomic():
        # Not the owner's row: a deletion holds that and waits for this one.
        export = (
            AccountExport.objects.select_for_update(of=("self",))
            .select_related("user")
            .filter(pk=uuid.UUID(export_id), encrypted="")
            .first()
        )
        if export is None:
            return
        text = json.dumps(export_account(export.user), cls=DjangoJSONEncoder, indent=2, ensure_ascii=False).encode()
        export.encrypted = encrypt(base64.b64encode(zlib.compress(text, 9)).decode("ascii"), purpose=PURPOSE)
        export.size = len(text)
        export.expires_at = timezone.now() + KEPT
        export.save(update_fields=["encrypted", "size", "expires_at"])
        mail(export.user, "accounts/export_ready", days=KEPT.days)


def export_of(user: User) -> AccountExport | None:
    """Return the user's copy, ready or not; None when there is none, or it has expired."""
    return AccountExport.objects.defer("encrypted").filter(user=user, expires_at__gt=timezone.now()).first()


def read_export(user: User) -> bytes | None:
    """Return the text of the user's copy as JSON; None when there is none to fetch."""
    export = AccountExport.objects.filter(user=user, expires_at__gt=timezone.now()).exclude(encrypted="").first()
    if export is None:
        return None
    try:
        return zlib.decompress(base64.b64decode(decrypt(export.encrypted, purpose=PURPOSE)))
    except DecryptionFailed:
        # It was encrypted under a key that is gone.
        return None
