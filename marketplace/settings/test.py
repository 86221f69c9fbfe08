"""The embedded settings, isolated for tests: a temporary folder, fast hashing, mail in memory."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

from .embedded import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .embedded import MEMORY_CACHES, TASKS
from .environment import database, sqlite, text

# Each process, such as a worker of a parallel run, has its own folder.
DATA_DIR = Path(tempfile.mkdtemp(prefix="marketplace-test-"))
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
MEDIA_ROOT = DATA_DIR / "media"
# Otherwise every test client would scan all static files.
WHITENOISE_USE_FINDERS = False
SECRET_KEY = "test-only-key-test-only-key-test-only-key-test-only-key"
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
BASE_URL = "http://testserver"
# Tests of the second factor enable it.
ADMIN_REQUIRES_SECOND_FACTOR = False

# `TEST_DATABASE_URL` is set by the test command once it has started a PostgreSQL server.
_database: dict[str, Any] = database(text("TEST_DATABASE_URL")) if text("TEST_DATABASE_URL") else sqlite(DATA_DIR / "marketplace.sqlite3")
if "init_command" in _database["OPTIONS"]:
    # Test data need not survive a power cut.
    _database["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
DATABASES = {"default": _database}
# Otherwise importing `marketplace.wsgi` would query the database, and set a limit for all tests.
CHECK_DATABASE_AT_START = False
STATEMENT_TIMEOUT_SECONDS = 0
CACHES = MEMORY_CACHES
# A pool would keep connections of ended threads open, and the test database could not be dropped.
_database["OPTIONS"].pop("pool", None)
# `TEST_REDIS_URL` likewise; the fixture `redis_cache` uses it.
TEST_REDIS_URL = text("TEST_REDIS_URL")
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
MAIL_TRANSPORT = "django.core.mail.backends.locmem.EmailBackend"
# Jobs run as soon as their transaction is committed; tests of the queue override this.
TASKS["default"]["BACKEND"] = "tests.eager.EagerBackend"
WORKER_IN_SERVER = False
# A background thread would write into another test's database; tests flush explicitly.
USAGE_FLUSH_SECONDS = 0
