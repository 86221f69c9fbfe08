"""Carries a new secret from the form that created it to the page that shows it, once.

A reload of that page creates nothing. In between the secret is in the user's session, encrypted; after a minute it is not shown any more.
"""

import time
import uuid

from django.http import HttpRequest

from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt

SECONDS = 60
_KEY, _PURPOSE = "new-secret", "new-secret"


def keep_secret(request: HttpRequest, subject_id: uuid.UUID, secret: str) -> None:
    """Keep the secret of a credential or an endpoint, the subject, for the next page. One that was not shown yet is dropped."""
    request.session[_KEY] = [str(subject_id), time.time() + SECONDS, encrypt(secret, purpose=_PURPOSE)]


def take_secret(request: HttpRequest, subject_id: uuid.UUID) -> str | None:
    """Return the kept secret and forget it; None if it was shown, has expired, or belongs to something else."""
    kept = request.session.get(_KEY)
    if request.method != "GET" or kept is None or kept[0] != str(subject_id):
        return None
    _, expires, encrypted = request.session.pop(_KEY)
    try:
        return decrypt(encrypted, purpose=_PURPOSE) if time.time() < expires else None
    except DecryptionFailed:
        return None
