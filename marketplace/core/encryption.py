"""Encrypts secrets that must be readable, such as signing secrets of webhooks, with a key outside of the database.

The keys are derived from `SECRET_KEY`; `SECRET_KEY_FALLBACKS` can still decrypt.
"""

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class DecryptionFailed(Exception):
    """The text was encrypted for another purpose, or under a key that is no longer configured."""


def encrypt(text: str, *, purpose: str) -> str:
    """Return the encrypted text, which can be decrypted for the same purpose only."""
    return _cipher_of_all_keys(purpose).encrypt(text.encode()).decode("ascii")


def decrypt(encrypted: str, *, purpose: str) -> str:
    """Return the decrypted text.

    Raises:
        DecryptionFailed: it was encrypted for another purpose, or under a key that is no longer configured.
    """
    try:
        return _cipher_of_all_keys(purpose).decrypt(encrypted).decode()
    except InvalidToken as error:
        raise DecryptionFailed(purpose) from error


def has_current_key(encrypted: str, *, purpose: str) -> bool:
    """Tell whether a text was encrypted with the current key, so that no fallback is needed to decrypt it."""
    try:
        _cipher(purpose, (settings.SECRET_KEY,)).decrypt(encrypted)
    except InvalidToken:
        return False
    return True


def _cipher_of_all_keys(purpose: str) -> MultiFernet:
    return _cipher(purpose, (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=16)
def _cipher(purpose: str, secret_keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([_fernet(secret_key, purpose) for secret_key in secret_keys])


def _fernet(secret_key: str, purpose: str) -> Fernet:
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=f"marketplace.{purpose}".encode()).derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(key))
