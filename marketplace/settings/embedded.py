"""The default settings: one process, SQLite, files in one folder, counters in memory, mail on the console, loopback only."""

import secrets
from typing import Any

from .base import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .base import ALLOWED_HOSTS, DATA_DIR
from .environment import boolean, database, email, new_signing_key, read_or_create_secret, redis_caches, signing_key, sqlite, text

DEBUG = boolean("DEBUG", default=False)
# For development: allows requests to addresses on this machine.
OUTBOUND_LOOPBACK = boolean("OUTBOUND_LOOPBACK", default=False)
ALLOWED_HOSTS = ALLOWED_HOSTS or ["127.0.0.1", "localhost", "[::1]"]

DATABASES = {"default": database(text("DATABASE_URL")) if text("DATABASE_URL") else sqlite(DATA_DIR / "marketplace.sqlite3")}
MEMORY_CACHE = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    # The default of 300 entries would evict rate-limit counters.
    "OPTIONS": {"MAX_ENTRIES": 100_000},
}
# Responses have their own cache, so that they never evict counters; 500 of the longest take 32 MB (`catalog.api.public`).
MEMORY_CACHES: dict[str, dict[str, Any]] = {
    "default": MEMORY_CACHE,
    "responses": MEMORY_CACHE | {"LOCATION": "responses", "OPTIONS": {"MAX_ENTRIES": 500}},
}
# With Redis, counters survive restarts, and processes share cached responses.
CACHES = redis_caches(text("REDIS_URL")) if text("REDIS_URL") else MEMORY_CACHES
if text("EMAIL_URL"):
    globals().update(email(text("EMAIL_URL")))

# One process is the whole service.
WORKER_IN_SERVER = boolean("WORKER_IN_SERVER", default=True)

# Static files are served from the packages, without collectstatic.
WHITENOISE_USE_FINDERS = True
STATIC_ROOT = None

# With a single process, counters in memory are exact.
SILENCED_SYSTEM_CHECKS = ["django_ratelimit.E003", "django_ratelimit.W001"]
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # An index includes prices for index-only scans; SQLite ignores the included columns and reads the rows.
    SILENCED_SYSTEM_CHECKS += ["models.W040"]

# Whoever tries the service can also try payments.
TEST_PAYMENTS = boolean("TEST_PAYMENTS", default=True)

SECRET_KEY = text("SECRET_KEY") or read_or_create_secret(DATA_DIR / "secret_key", lambda: secrets.token_urlsafe(50))
CERTIFICATE_KEY = signing_key(text("CERTIFICATE_KEY") or read_or_create_secret(DATA_DIR / "certificate_key", new_signing_key))
