"""The Standard Webhooks scheme: secrets and signatures."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from contextlib import suppress

import orjson
from django.utils import timezone

from marketplace.core.encryption import DecryptionFailed, decrypt, encrypt

from ..models import WebhookEndpoint, WebhookEvent

PREFIX = "whsec_"
SECRET_BYTES = 32
_PURPOSE = "webhook"


def new_secret() -> str:
    """Return a new secret in the format of Standard Webhooks."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def encrypt_secret(secret: str) -> str:
    """Return a secret, encrypted for storage."""
    return encrypt(secret, purpose=_PURPOSE)


def reencrypt_secret(encrypted: str) -> str:
    """Return an encrypted secret, re-encrypted with the current key.

    Raises:
        DecryptionFailed: its key is gone.
    """
    return encrypt_secret(decrypt(encrypted, purpose=_PURPOSE))


def body_of(event: WebhookEvent) -> bytes:
    """Return the body of the request, the same bytes at every attempt."""
    at = event.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return orjson.dumps({"type": event.type, "timestamp": at, "data": event.data})


def headers_for(endpoint: WebhookEndpoint, event: WebhookEvent, body: bytes) -> Mapping[str, str]:
    """Return the headers of an attempt at this moment, with a signature by each valid secret.

    Raises:
        DecryptionFailed: the key of the current secret is gone; an old secret is left out then.
    """
    now = timezone.now()
    timestamp = str(int(now.timestamp()))
    valid_secrets = [decrypt(endpoint.encrypted_secret, purpose=_PURPOSE)]
    if endpoint.old_secret_until is not None and now < endpoint.old_secret_until:
        with suppress(DecryptionFailed):
            valid_secrets.append(decrypt(endpoint.encrypted_old_secret, purpose=_PURPOSE))
    signed = b".".join((event.webhook_id.encode(), timestamp.encode(), body))
    return {
        "Content-Type": "application/json",
        "webhook-id": event.webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in valid_secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode("ascii")
