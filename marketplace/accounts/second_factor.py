"""Encrypts the secrets of authenticator apps and the seeds of recovery codes, and ends older sessions when an app is set up."""

import logging
from typing import Any

from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.http import HttpResponse
from django.shortcuts import redirect

from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt
from marketplace.core.transitions import lock

from .services import end_sessions

logger = logging.getLogger(__name__)
# No secret has a colon: one is base32, the other hexadecimal.
ENCRYPTED = "encrypted:"
_PURPOSE = "second-factor"
_SECRETS = ("secret", "seed")
_SIGNED_IN_ADVICE = "Your two-factor codes can't be decrypted any more. Turn two-factor sign-in off, then set it up again."
_SIGNED_OUT_ADVICE = "Your two-factor codes can't be decrypted any more, so you can't sign in. Contact the operators of this site."


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    """Encrypts secrets; unencrypted ones stay readable until `reencrypt_secrets` encrypts them."""

    def encrypt(self, text: str) -> str:
        return ENCRYPTED + encrypt(text, purpose=_PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored secret, decrypted.

        Raises:
            CodesUnreadable: it was tampered with, or its key is gone.
        """
        try:
            return _decrypted(encrypted_text)
        except DecryptionFailed as error:
            raise CodesUnreadable from error


class CodesUnreadable(ImmediateHttpResponse):  # type: ignore[misc]  # as above
    """The codes cannot be decrypted: redirects the user to a page with advice. A template renders it as nothing."""

    silent_variable_failure = True

    def __init__(self) -> None:
        Exception.__init__(self, "A second factor cannot be decrypted.")

    @property
    def response(self) -> HttpResponse:
        """Return the redirect that allauth's middleware sends."""
        user = context.request.user
        logger.error("A second factor cannot be decrypted; `manage.py reencrypt_secrets` lists them all.")
        messages.error(context.request, _SIGNED_IN_ADVICE if user.is_authenticated else _SIGNED_OUT_ADVICE)
        return redirect("mfa_index" if user.is_authenticated else "mfa_authenticate")


@receiver(post_save, sender=Authenticator)
def _end_other_sessions(instance: Authenticator, *, created: bool, **kwargs: Any) -> None:
    """End the sessions that began with the password alone, except the one in which the app is set up."""
    if created and instance.type == Authenticator.Type.TOTP:
        user = end_sessions(user=instance.user, actor=instance.user)
        if context.request is not None:
            update_session_auth_hash(context.request, user)


@transaction.atomic
def reencrypt_authenticator(*, authenticator: Authenticator) -> None:
    """Encrypt a second factor with the current key, whether it is encrypted or not.

    Raises:
        NotFound: it was turned off meanwhile.
        DecryptionFailed: it was tampered with, or its key is gone.
    """
    authenticator = lock(Authenticator.objects.all(), pk=authenticator.pk)
    data: dict[str, Any] = authenticator.data
    adapter = MFAAdapter()
    authenticator.data = data | {name: adapter.encrypt(_decrypted(data[name])) for name in _SECRETS if name in data}
    authenticator.save(update_fields=["data"])


def _decrypted(stored: str) -> str:
    return decrypt(stored.removeprefix(ENCRYPTED), purpose=_PURPOSE) if stored.startswith(ENCRYPTED) else stored
