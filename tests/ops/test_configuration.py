"""Configurations that are wrong or incomplete: each stops the start with one sentence that says what to set."""

import importlib
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, ProgrammingError

import manage
from tests import ROOT

from ..checks import PRODUCTION, SETTINGS
from ..servers.process import bare_environment, run

S3 = {"S3_BUCKET": "shop", "S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "secret"}
# A key of another kind in the same wrapping.
X25519_KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIP6zTvktgzdm1Slf8E8+zrTMi00DwbKf8quvrV3LzKkQ\n-----END PRIVATE KEY-----"
EMBEDDED = "marketplace.settings.embedded"

Start = Callable[[dict[str, str]], ModuleType]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Load the settings anew from an environment that holds nothing but what is given."""

    def load(given: dict[str, str]) -> ModuleType:
        for name in os.environ:
            if name.removesuffix("_FILE") in SETTINGS:
                monkeypatch.delenv(name)
        for name, value in ({"DATA_DIR": str(tmp_path)} | given).items():
            monkeypatch.setenv(name, value)
        for name in [name for name in sys.modules if name.startswith("marketplace.settings")]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module(given.get("DJANGO_SETTINGS_MODULE", EMBEDDED))

    return load


def assert_stops(start: Start, given: dict[str, str], *words: str) -> None:
    with pytest.raises(ImproperlyConfigured) as stopped:
        start(given)
    message = str(stopped.value)
    assert "\n" not in message
    assert message.endswith(".")
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"DEBUG": "perhaps"}, ("DEBUG", "true or false")),
        ({"RATE_LIMIT_API_KEY": "many"}, ("RATE_LIMIT_API_KEY", "whole number")),
        ({"RATE_LIMIT_API_KEY": "0"}, ("RATE_LIMIT_API_KEY", "at least 1")),
        ({"BASE_URL": "shop.example"}, ("BASE_URL", "https://shop.example")),
        ({"BASE_URL": "https://shop.example/shop"}, ("BASE_URL", "without a path")),
        ({"BASE_URL": "https://shop.example?"}, ("BASE_URL", "without a path")),
        ({"DATABASE_URL": "mysql://root@localhost/shop"}, ("DATABASE_URL", "postgres://")),
        ({"DATABASE_URL": "postgres://shop@localhost"}, ("DATABASE_URL", "names no database")),
        ({"DATABASE_URL": "sqlite:///"}, ("DATABASE_URL", "names no file")),
        ({"DATABASE_URL": "postgres://shop:pa/ss@localhost/shop"}, ("DATABASE_URL", "percent-encoded")),
        ({"REDIS_URL": "redis://:pa/ss@localhost:6379/0"}, ("REDIS_URL", "percent-encoded")),
        ({"BASE_URL": "https://shop.example:port"}, ("BASE_URL", "not a number")),
        ({"SECRET_KEY_FILE": sys.executable}, ("SECRET_KEY_FILE", "not text in UTF-8")),
        ({"S3_BUCKET": "shop"}, ("partly configured", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")),
        ({"S3_ENDPOINT_URL": "https://s3.example"}, ("partly configured", "S3_BUCKET")),
        (S3 | {"S3_ENDPOINT_URL": "s3.example"}, ("S3_ENDPOINT_URL",)),
        ({"REDIS_URL": "localhost:6379"}, ("REDIS_URL", "redis://host:6379/0")),
        ({"REDIS_URL": "redis://"}, ("REDIS_URL", "redis://host:6379/0")),
        ({"EMAIL_URL": "mail.example"}, ("EMAIL_URL", "smtp+tls://")),
        ({"EMAIL_URL": "smtp://"}, ("EMAIL_URL", "names no mail server")),
        ({"EMAIL_URL": "smtp://shop:pa#ss@mail.example"}, ("EMAIL_URL", "percent-encoded")),
        ({"REFUND_WINDOW_DAYS": "999999"}, ("REFUND_WINDOW_DAYS", "from 0 to 36500")),
        ({"SECRET_KEY": "a", "SECRET_KEY_FILE": "/tmp/b"}, ("SECRET_KEY or SECRET_KEY_FILE", "not both")),  # noqa: S108 - never read
        ({"CERTIFICATE_KEY": "secret"}, ("CERTIFICATE_KEY", "openssl genpkey")),
        ({"CERTIFICATE_KEY": X25519_KEY}, ("CERTIFICATE_KEY", "Ed25519")),
        ({"CERTIFICATE_RETIRED_KEYS": "nonsense"}, ("CERTIFICATE_RETIRED_KEYS", "Ed25519")),
        ({"SECRET_KEY_FILE": "/nowhere/secret"}, ("SECRET_KEY_FILE", "cannot be read")),
        ({"METRICS_TOKEN": "short"}, ("METRICS_TOKEN", "20 characters")),
        ({"METRICS_TOKEN": "m" * 20, "METRICS_DIR": "/proc/nowhere"}, ("METRICS_DIR", "cannot be created")),
        ({"READY_REQUIRES": "database,moon"}, ("READY_REQUIRES", "database, migrations")),
        ({"GRANIAN_BLOCKING_THREADS": "12"}, ("GRANIAN_BLOCKING_THREADS", "more than three times")),
        ({"LOG_FORMAT": "xml"}, ("LOG_FORMAT", "text or json")),
        ({"LOG_LEVEL": "loud"}, ("LOG_LEVEL", "INFO")),
        ({"OTEL_ENDPOINT": "collector:4318"}, ("OTEL_ENDPOINT",)),
        ({"OTEL_PERCENT": "150"}, ("OTEL_PERCENT", "from 1 to 100")),
        # It moves no money, and sends no mail.
        ({"SANDBOX": "true", "STRIPE_SECRET_KEY": "sk_1", "RAZORPAY_KEY_ID": "rzp_1"}, ("sandbox", "STRIPE_SECRET_KEY", "RAZORPAY_KEY_ID")),
        ({"SANDBOX": "true", "EMAIL_URL": "smtp://mail.example"}, ("sandbox", "EMAIL_URL")),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_embedded_setting_stops_with_a_sentence(start: Start, given: dict[str, str], words: tuple[str, ...]) -> None:
    assert_stops(start, given, *words)


@pytest.mark.parametrize("missing", sorted(PRODUCTION.keys() - {"DJANGO_SETTINGS_MODULE", "INSPECT_AS_ROOT"}))
def test_production_without_a_setting_stops_and_names_it(start: Start, missing: str) -> None:
    given = {name: value for name, value in PRODUCTION.items() if name != missing}
    assert_stops(start, given, missing)


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("SECRET_KEY", "short", "50 characters"),
        ("BASE_URL", "http://shop.example", "https://"),
        # Every request would get a 400.
        ("ALLOWED_HOSTS", "https://shop.example", "also that of BASE_URL"),
        ("ALLOWED_HOSTS", "shop.example:443", "also that of BASE_URL"),
        ("DATABASE_URL", "sqlite:///shop.sqlite3", "PostgreSQL"),
        ("SECURE_HSTS_SECONDS", "-1", "whole number"),
        ("DATABASE_POOL_SIZE", "0", "at least 1"),
        ("METRICS_TOKEN", "m" * 20, "METRICS_DIR"),
    ],
)
def test_production_with_a_wrong_setting_stops_and_says_why(start: Start, name: str, value: str, word: str) -> None:
    assert_stops(start, PRODUCTION | {name: value}, name, word)


def test_tls_options_of_the_database_address_are_used(start: Start) -> None:
    asked = "?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem"
    settings = start(PRODUCTION | {"DATABASE_URL": f"postgres://shop:secret@db.example/shop{asked}"})
    assert settings.DEBUG is False
    options = settings.DATABASES["default"]["OPTIONS"]
    assert (options["sslmode"], options["sslrootcert"], options["pool"]["min_size"]) == ("verify-full", "/etc/ssl/ca.pem", 1)


@pytest.mark.parametrize("given", [{}, PRODUCTION], ids=["embedded", "production"])
def test_redis_and_mail_server_are_used_where_they_are_set(start: Start, given: dict[str, str]) -> None:
    settings = start(given | {"REDIS_URL": "rediss://cache.example:6380/2", "EMAIL_URL": "smtp+tls://me:p%40ss@mail.example:2525"})
    for cache in ("default", "responses"):
        assert settings.CACHES[cache]["BACKEND"] == "django_redis.cache.RedisCache"
        assert settings.CACHES[cache]["LOCATION"] == "rediss://cache.example:6380/2"
    # A counter that cannot be kept is told of; an answer that cannot be kept is built anew.
    assert [settings.CACHES[cache]["OPTIONS"].get("IGNORE_EXCEPTIONS", False) for cache in ("default", "responses")] == [False, True]
    assert settings.MAIL_TRANSPORT == "django.core.mail.backends.smtp.EmailBackend"
    assert (settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS) == ("mail.example", 2525, True)
    assert (settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD, settings.EMAIL_TIMEOUT) == ("me", "p@ss", 10)


@pytest.mark.parametrize("given", [{}, PRODUCTION], ids=["embedded", "production"])
def test_admin_asks_for_a_second_factor_unless_told_otherwise(start: Start, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    monkeypatch.delenv("ADMIN_REQUIRES_SECOND_FACTOR", raising=False)
    assert start(given).ADMIN_REQUIRES_SECOND_FACTOR is True
    assert start(given | {"ADMIN_REQUIRES_SECOND_FACTOR": "false"}).ADMIN_REQUIRES_SECOND_FACTOR is False


def test_sandbox_needs_neither_bucket_nor_mail_server_and_takes_test_payments(start: Start, tmp_path: Path) -> None:
    given = {name: value for name, value in PRODUCTION.items() if name != "EMAIL_URL" and not name.startswith("S3_")}
    settings = start(given | {"SANDBOX": "true"})
    assert (settings.TEST_PAYMENTS, settings.TEST_PAYMENTS_ALLOWED) == (True, True)
    assert settings.ACCOUNT_EMAIL_VERIFICATION == "optional"
    assert settings.MAIL_TRANSPORT == "django.core.mail.backends.filebased.EmailBackend"
    assert tmp_path / "mails" == settings.EMAIL_FILE_PATH


# A dollar sign names no other variable.
@pytest.mark.parametrize("key", [PRODUCTION["SECRET_KEY"], "$" + PRODUCTION["SECRET_KEY"]], ids=["letters", "dollar"])
def test_secret_is_read_as_it_is_from_the_variable_or_a_file(start: Start, tmp_path: Path, key: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text(key + "\n", encoding="utf-8")
    given = {name: value for name, value in PRODUCTION.items() if name != "SECRET_KEY"}
    assert key == start(given | {"SECRET_KEY_FILE": str(secret)}).SECRET_KEY
    assert key == start(given | {"SECRET_KEY": key}).SECRET_KEY


def test_address_that_is_not_understood_leaves_no_part_of_its_password_in_the_log(start: Start) -> None:
    rest = ":se/cret@localhost/0"
    for name, address in (
        ("DATABASE_URL", f"postgres://shop{rest}"),
        ("REDIS_URL", f"redis://{rest}"),
        ("EMAIL_URL", f"smtp://shop{rest}"),
    ):
        with pytest.raises(ImproperlyConfigured) as stopped:
            start({name: address})
        assert "'se'" not in "".join(traceback.format_exception(stopped.value))


def test_relative_folder_is_the_same_wherever_a_process_was_started(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere" / "deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere" / "deeper")
    data = os.path.relpath(tmp_path / "data", ROOT)
    settings = start({"DATA_DIR": data, "STATIC_ROOT": f"{data}/static"})
    assert settings.DATA_DIR.resolve() == tmp_path / "data"
    assert Path(settings.DATABASES["default"]["NAME"]).resolve() == tmp_path / "data" / "marketplace.sqlite3"
    settings = start({"DATABASE_URL": f"sqlite://{data}/shop.sqlite3"})
    assert Path(settings.DATABASES["default"]["NAME"]).resolve() == tmp_path / "data" / "shop.sqlite3"


def test_embedded_keys_are_made_once_for_the_owner_only(start: Start, tmp_path: Path) -> None:
    first, again = start({}), start({})
    assert (first.SECRET_KEY, first.CERTIFICATE_KEY) == (again.SECRET_KEY, again.CERTIFICATE_KEY)
    assert (tmp_path / "certificate_key").read_text() == first.CERTIFICATE_KEY
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"certificate_key": 0o600, "secret_key": 0o600}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "given", "sentence"),
    [
        ("check", PRODUCTION | {"SECRET_KEY": "short"}, "Configuration: SECRET_KEY"),
        # As a job of cron does that lacks the variables of the service.
        ("reconcile", {}, "The database is empty, or of another release"),
    ],
    ids=["wrong setting", "another database"],
)
def test_command_that_cannot_work_prints_one_sentence(tmp_path: Path, command: str, given: dict[str, str], sentence: str) -> None:
    env = bare_environment() | {"DATA_DIR": str(tmp_path)} | given
    done = run(sys.executable, ROOT / "manage.py", command, env=env, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(sentence)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("state", "words", "told"),
    [
        ("42P01", 'relation "wallet_order" does not exist', "of another release"),
        ("42703", 'column "board" does not exist', "of another release"),
        ("42501", "permission denied for table django_session", "role may not do that"),
        # A mistake of ours keeps its traceback.
        ("42601", 'syntax error at or near "SELEKT"', ""),
    ],
)
def test_postgresql_errors_that_an_operator_can_solve_are_explained(state: str, words: str, told: str) -> None:
    error = ProgrammingError(words)
    error.__cause__ = psycopg.errors.lookup(state)(words)
    reason = manage.advice_for(error, answered=True)
    assert told in reason
    assert bool(told) == bool(reason)


def test_database_that_does_not_answer_is_told() -> None:
    assert manage.advice_for(OperationalError("connection refused"), answered=False) == "The database does not answer"
