"""The embedded settings with everything that tests isolate: their own folder, fast hashing, mail in memory."""

import tempfile
from pathlib import Path

from .embedded import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .environment import database, sqlite, text

DATA_DIR = Path(tempfile.mkdtemp(prefix="marketplace-test-"))
MEDIA_ROOT = DATA_DIR / "media"
STATIC_ROOT = DATA_DIR / "static"
# WhiteNoise warns of a missing folder, and warnings are errors.
STATIC_ROOT.mkdir()
SECRET_KEY = "test-only-key-test-only-key-test-only-key-test-only-key"
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
BASE_URL = "http://testserver"

# `TEST_DATABASE_URL` is set by the test command once it has started a PostgreSQL server.
DATABASES = {
    "default": database(text("TEST_DATABASE_URL")) if text("TEST_DATABASE_URL") else sqlite(DATA_DIR / "marketplace.sqlite3"),
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
