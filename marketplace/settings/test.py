"""The embedded settings with everything that tests isolate: their own folder, fast hashing, mail in memory."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

from .embedded import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .embedded import MEMORY_CACHES, TASKS
from .environment import database, sqlite, text

# Each process (a worker of a parallel run is one) has a folder of its own.
DATA_DIR = Path(tempfile.mkdtemp(prefix="marketplace-test-"))
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
MEDIA_ROOT = DATA_DIR / "media"
# Every test client would walk through all static files.
WHITENOISE_USE_FINDERS = False
SECRET_KEY = "test-only-key-test-only-key-test-only-key-test-only-key"
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
BASE_URL = "http://testserver"
# Tests of the second factor switch it on; the others enter the admin without.
ADMIN_REQUIRES_SECOND_FACTOR = False

# `TEST_DATABASE_URL` is set by the test command once it has started a PostgreSQL server.
_database: dict[str, Any] = database(text("TEST_DATABASE_URL")) if text("TEST_DATABASE_URL") else sqlite(DATA_DIR / "marketplace.sqlite3")
if "init_command" in _database["OPTIONS"]:
    # Nothing here has to outlive a power cut.
    _database["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
DATABASES = {"default": _database}
# Importing `marketplace.wsgi` would limit the statements of all tests.
STATEMENT_TIMEOUT_SECONDS = 0
CACHES = MEMORY_CACHES
# A pool would hold on to connections of threads that a test has ended, and the test database could not be dropped.
_database["OPTIONS"].pop("pool", None)
# `TEST_REDIS_URL` likewise; the fixture `redis_cache` uses it.
TEST_REDIS_URL = text("TEST_REDIS_URL")
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
MAIL_TRANSPORT = "django.core.mail.backends.locmem.EmailBackend"
# Each job is done as soon as its transaction stands; tests of the queue itself say otherwise.
TASKS["default"]["BACKEND"] = "tests.eager.EagerBackend"
WORKER_IN_SERVER = False
# A thread that writes on its own would write into another test's database; tests flush by hand.
USAGE_FLUSH_SECONDS = 0
