"""Fixtures of all tests: callers with each kind of credential."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.conf import settings as django_settings
from django.core.cache import cache, caches
from django.db import connection, connections
from django.db.models.signals import post_save
from django.test import Client
from playwright.sync_api import Browser, Page
from rest_framework.test import APIClient

from catalog.search import vocabulary
from developers.models import App, DeveloperApplication
from developers.services.applications import approve_application, submit_application
from developers.services.credentials import issue_api_key
from developers.usage.buffer import usage_buffer
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from marketplace.settings.environment import redis_caches
from marketplace.storage.s3 import S3Storage

from .audit_entries import check_entry
from .callers import EVERYTHING, personal_token, signed_in
from .clocks import _nothing_expires_by_itself, counters_clock, midday  # noqa: F401 - fixtures
from .eager import EagerBackend
from .factories import AppFactory, UserFactory
from .flush import django_db_setup  # noqa: F401 - a fixture of every test that needs a database
from .machine import CHROMIUM
from .screenshots.driving import Scheme, browser, context
from .servers import migrated, s3


def pytest_configure(config: pytest.Config) -> None:
    """Begin what the workers of a parallel run, which come after, share."""
    migrated.begin()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:
    """Keep the garbage collector away from what stays until the end: it took a third of the collection, and a part of each test after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # What a test leaves in circles is little; the default looks for it hundreds of times in each.
        gc.set_threshold(20_000, 5, 5)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a database or a program that is not here, and begin with what takes longest."""
    lacking = {}
    if connection.vendor != "postgresql":
        lacking["postgres"] = "needs PostgreSQL"
    if not any(map(shutil.which, CHROMIUM)):
        lacking["browser"] = "needs Chromium"
    for item in items:
        for marker, reason in lacking.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))
    # At the end, no worker waits for another.
    items.sort(key=lambda item: item.path.name != "test_longer_commands.py")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest, django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """Let the database of the tests begin as a copy of the migrated one: Django finds nothing left to migrate."""
    if connection.vendor == "sqlite" or not request.config.option.reuse_db:
        migrated.prepare_test_database(connection.settings_dict)
    yield
    connections.close_all()


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest) -> bool:
    """Take the file that lies there already; it goes with its folder."""
    return connection.vendor == "sqlite" or bool(request.config.option.reuse_db)


@pytest.fixture(autouse=True, scope="session")
def _mails_go_through_the_queue(django_test_environment: None) -> None:
    """Undo what Django does to every test: mails take their way through the queue, and the worker hands them to the outbox."""
    django_settings.EMAIL_BACKEND = "marketplace.jobs.mailing.QueuedBackend"


@pytest.fixture(autouse=True, scope="session")
def _audit_entries_are_as_documented(django_test_environment: None) -> None:
    post_save.connect(check_entry, sender=AuditEntry)


@pytest.fixture(autouse=True)
def _clean_cache() -> None:
    """Rate-limit counters, cached answers and uncounted calls of one test are nothing to the next."""
    usage_buffer._counts.clear()
    for store in caches.all(initialized_only=False):
        store.clear()
    vocabulary._Cache.vocabulary = vocabulary.Vocabulary()


@pytest.fixture
def unlimited(settings: Any) -> None:
    """Let a caller send more calls than the limits allow."""
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 1_000_000)


@pytest.fixture
def jobs_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave jobs in the queue for a worker, as in the service."""
    monkeypatch.setattr(EagerBackend, "on", False)


@pytest.fixture
def redis_cache(settings: Any) -> Iterator[str]:
    """Put the cache, and with it every counter, on a real Redis; yield its address."""
    if not settings.TEST_REDIS_URL:
        pytest.skip("needs Redis")
    # A database for each worker: they run at once.
    database = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1
    address = f"{settings.TEST_REDIS_URL}/{database}"
    settings.CACHES = redis_caches(address)
    cache.clear()
    yield address
    cache.clear()


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    """An empty store of its own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture(scope="session")
def s3_server() -> Iterator[s3.S3Server]:
    """A running S3 server; what needs it is skipped where it cannot be had."""
    with s3.running() as server:
        yield server


@pytest.fixture(scope="session")
def s3_storage(s3_server: s3.S3Server) -> S3Storage:
    """One connection for all: boto takes a third of a second to make one."""
    storage = S3Storage(**s3_server.storage_options())
    try:
        storage.bucket.create()
    except ClientError as error:
        # It keeps its records in extended attributes, which some temporary folders do not have.
        pytest.skip(f"the S3 server cannot store here: {error}")
    return storage


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a file."""
    # Playwright runs an event loop in this thread, which Django would take for asynchronous code.
    with pytest.MonkeyPatch.context() as patch, browser() as started:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield started
        # What tests asked of the database went through connections of the loop's own.
        connections.close_all()


@pytest.fixture
def site(live_server: Any, settings: Any) -> str:
    """The address of a server in this process, which knows it."""
    address: str = live_server.url
    settings.BASE_URL = address
    return address


@pytest.fixture
def window(chromium: Browser, site: str, settings: Any) -> Iterator[Callable[..., Page]]:
    """Open a window: `window("phone")`, `window("desktop", user, scheme="dark", java_script=False)`."""

    def opened(size: str, user: User | None = None, *, scheme: Scheme = "light", java_script: bool = True) -> Page:
        made = context(chromium, size, scheme, java_script=java_script)
        if user is not None:
            session = signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value
            made.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
        return made.new_page()

    yield opened
    for each in chromium.contexts:
        each.close()
    connections.close_all()


@pytest.fixture
def anonymous() -> APIClient:
    return APIClient()


@pytest.fixture
def bearer_client() -> Callable[..., APIClient]:
    """Make a caller with a personal token: `bearer_client(user, scopes={...})`."""

    def make(user: User | None = None, scopes: frozenset[Scope] = EVERYTHING) -> APIClient:
        _, secret = personal_token(user or UserFactory(), frozenset(scopes))
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        return client

    return make


@pytest.fixture
def key_client() -> Callable[..., APIClient]:
    """Make a caller with an API key: `key_client(user, scopes={...})`, or of an app that is there: `key_client(app=app)`."""

    def make(user: User | None = None, scopes: frozenset[Scope] = APP_SCOPES, app: App | None = None) -> APIClient:
        app = app or AppFactory(user=user or UserFactory(), granted_scopes=format_scopes(scopes))
        _, secret = issue_api_key(app=app, name="test", actor=app.developer)
        client = APIClient()
        client.credentials(HTTP_X_API_KEY=secret)
        return client

    return make


@pytest.fixture
def browse() -> Callable[..., Client]:
    """Sign someone in: `browse(user)`; `checked` enforces the CSRF check."""
    return signed_in


@pytest.fixture
def reviewer(db: None) -> User:
    """A superuser who decides."""
    return UserFactory(is_staff=True, is_superuser=True)


@pytest.fixture
def application(db: None) -> DeveloperApplication:
    """An application that waits."""
    user = UserFactory()
    return submit_application(user=user, what="A font picker", why="It reads the catalog", actor=user)


@pytest.fixture
def developer(application: DeveloperApplication, reviewer: User) -> User:
    """An approved developer."""
    return approve_application(application=application, reason="Makes sense", actor=reviewer).user
