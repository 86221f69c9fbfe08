"""Reads settings from the environment; wrong or incomplete ones raise `ImproperlyConfigured`."""

import contextlib
import os
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

import environ
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

BASE_DIR = Path(__file__).resolve().parent.parent.parent

# Settings are read once, so nothing is cached.
_variables = FileAwareMapping(cache=False)

# Names contain a hash of the content; files are compressed in advance.
STATIC_FILES = {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
S3_REQUIRED = ("S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
# What an address that cannot be read has, if it is not mistyped.
MISREAD = "the port is not a number, or a password has characters that must be percent-encoded, such as %2F for /"
S3_OPTIONAL = ("S3_ENDPOINT_URL", "S3_PUBLIC_ENDPOINT_URL", "S3_REGION")


def text(name: str, default: str = "") -> str:
    """Return the variable, or the content of the file that `<name>_FILE` names (for mounted secrets), as it is: a `$` in it names no other variable."""
    if os.environ.get(name) and os.environ.get(f"{name}_FILE"):
        raise ImproperlyConfigured(f"Set {name} or {name}_FILE, not both.")
    try:
        value: str = _variables.get(name, default)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise ImproperlyConfigured(f"{name}_FILE names {os.environ[f'{name}_FILE']}, which cannot be read: {reason}.") from error
    return value.strip()


def required(name: str, purpose: str) -> str:
    """Return the variable; raise an error that states its purpose if it is not set."""
    value = text(name)
    if not value:
        raise ImproperlyConfigured(f"Set {name}: {purpose}")
    return value


def boolean(name: str, *, default: bool) -> bool:
    """Return a boolean variable; raise an error for other values."""
    value = text(name).lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; set it to true or false.")


def integer(name: str, *, default: int, minimum: int = 0, maximum: int | None = None) -> int:
    """Return a whole number from `minimum` to `maximum`; raise an error for other values."""
    value = text(name)
    if not value:
        return default
    if not value.isdecimal() or int(value) < minimum or (maximum is not None and int(value) > maximum):
        allowed = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to a whole number {allowed}.")
    return int(value)


def comma_separated(name: str) -> list[str]:
    """Return a comma-separated variable as a list."""
    return [item.strip() for item in text(name).split(",") if item.strip()]


def networks(name: str) -> list[str]:
    """Return a comma-separated variable of IP addresses or networks as a list."""
    values = comma_separated(name)
    for value in values:
        try:
            ip_network(value, strict=False)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} contains {value!r}; set it to addresses or networks such as 10.0.0.0/8.") from error
    return values


def http_url(name: str, default: str = "") -> str:
    """Return an absolute http(s) address without a trailing slash."""
    value = text(name, default).rstrip("/")
    parts = _parts(name, value, "https://shop.example")
    if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to an address such as https://shop.example.")
    return value


def _parts(name: str, url: str, example: str) -> SplitResult:
    """Return the parts of an address; raise an error if they cannot be told apart, without the address, which may contain a password."""
    try:
        parts = urlsplit(url)
        # Raises an error for what is no port, such as a part of a password that contains a slash.
        _ = parts.port
    except ValueError:
        # Its message has that part, which a server would log.
        raise ImproperlyConfigured(f"{name} is not understood: {MISREAD}; set it to one such as {example}.") from None
    return parts


def read_or_create_secret(path: Path, make: Callable[[], str]) -> str:
    """Return the file's content; create it atomically if it does not exist, readable by its owner only."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}-{os.getpid()}")
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(make())
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
        temporary.unlink()
    return path.read_text(encoding="ascii")


def signing_key(pem: str) -> str:
    """Return the Ed25519 private key that signs certificates, as PEM with real line breaks."""
    pem = pem.replace("\\n", "\n")
    with contextlib.suppress(ValueError, TypeError):
        if isinstance(load_pem_private_key(pem.encode(), password=None), Ed25519PrivateKey):
            return pem
    raise ImproperlyConfigured("CERTIFICATE_KEY is not an Ed25519 private key in PEM; make one with: openssl genpkey -algorithm ed25519.")


def retired_keys() -> list[str]:
    """Return the Ed25519 public keys, each as PEM, whose certificates stay valid."""
    ending = "-----END PUBLIC KEY-----"
    blocks = text("CERTIFICATE_RETIRED_KEYS").replace("\\n", "\n").split(ending)
    keys = [block.strip() + f"\n{ending}\n" for block in blocks if block.strip()]
    with contextlib.suppress(ValueError):
        if all(isinstance(load_pem_public_key(key.encode()), Ed25519PublicKey) for key in keys):
            return keys
    raise ImproperlyConfigured("CERTIFICATE_RETIRED_KEYS contains something other than Ed25519 public keys in PEM; remove it.")


def new_signing_key() -> str:
    """Return a fresh Ed25519 private key in PEM."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii")


def database(url: str) -> dict[str, object]:
    """Return Django's database entry for a `postgres://` or `sqlite://` address."""
    scheme = url.partition(":")[0].lower()
    if scheme in {"postgres", "postgresql"}:
        try:
            entry: dict[str, object] = environ.Env.db_url_config(url)
        except ValueError:
            # As in `_parts`.
            raise ImproperlyConfigured(
                f"DATABASE_URL is not understood: {MISREAD}; set it to one such as postgres://user:password@host:5432/name."
            ) from None
        if not entry.get("NAME"):
            raise ImproperlyConfigured("DATABASE_URL names no database; set it to postgres://user:password@host:5432/name.")
        return entry | {
            "ENGINE": "django.db.backends.postgresql",
            # Opening a connection costs more CPU than the request it serves.
            "OPTIONS": cast("dict[str, object]", entry.get("OPTIONS", {}))
            # Options from the address's query, such as `sslmode`, are kept unless overridden here.
            | {
                # A request that gets no connection in time is answered with 503 instead of queueing.
                "pool": {
                    "min_size": 1,
                    "max_size": integer("DATABASE_POOL_SIZE", default=8, minimum=1),
                    "timeout": integer("DATABASE_POOL_TIMEOUT", default=5, minimum=1),
                    # The pool doubles its delay between attempts; after this limit the next caller tries again.
                    "reconnect_timeout": 5,
                },
                "connect_timeout": 5,
                # Close connections to a vanished host, which acknowledges nothing.
                "tcp_user_timeout": 10_000,
                # Compiling a statement, or running it in parallel, takes a hundred times as long as a search. Frequently used
                # data is in memory or on an SSD, where random access is as cheap as sequential access.
                "options": "-c jit=off -c max_parallel_workers_per_gather=0 -c random_page_cost=1.1",
            },
            "CONN_MAX_AGE": 0,
            "DISABLE_SERVER_SIDE_CURSORS": False,
        }
    if scheme == "sqlite":
        path = url.removeprefix("sqlite://")
        if not path.strip("/"):
            raise ImproperlyConfigured("DATABASE_URL names no file; set it to sqlite:///path/to/marketplace.sqlite3.")
        return sqlite(BASE_DIR / path)
    raise ImproperlyConfigured(f"DATABASE_URL starts with {scheme!r}; set it to postgres://user:password@host:5432/name.")


def sqlite(path: Path) -> dict[str, object]:
    """Return Django's database entry for SQLite, with writers that wait instead of failing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        # Reopening the file takes longer than most queries.
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": (
                "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA foreign_keys=ON;"
                "PRAGMA recursive_triggers=ON;PRAGMA cache_size=-65536;"
            ),
        },
        "TEST": {"NAME": str(path.with_name("test.sqlite3"))},
    }


def s3() -> dict[str, str] | None:
    """Return the S3 settings, None if none is set; raise an error if they are incomplete."""
    values = {name: text(name) for name in S3_REQUIRED + S3_OPTIONAL}
    if not any(values.values()):
        return None
    missing = [name for name in S3_REQUIRED if not values[name]]
    if missing:
        raise ImproperlyConfigured(
            f"S3 storage is only partly configured: set {' and '.join(missing)}, or unset every S3_ variable to keep files locally."
        )
    for name in ("S3_ENDPOINT_URL", "S3_PUBLIC_ENDPOINT_URL"):
        http_url(name)
    return values


def s3_storage(values: dict[str, str]) -> dict[str, Any]:
    """Return Django's storage entry for S3 settings."""
    return {
        "BACKEND": "marketplace.storage.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": values["S3_BUCKET"],
            "access_key": values["S3_ACCESS_KEY_ID"],
            "secret_key": values["S3_SECRET_ACCESS_KEY"],
            "endpoint_url": values["S3_ENDPOINT_URL"] or None,
            "region_name": values["S3_REGION"] or "us-east-1",
        },
    }


def redis_caches(url: str) -> dict[str, dict[str, object]]:
    """Return Django's CACHES for a Redis-protocol server: counters, and responses, which are not cached while it is down."""
    parts = _parts("REDIS_URL", url, "redis://host:6379/0")
    if parts.scheme not in {"redis", "rediss", "unix"} or not (parts.hostname or parts.path):
        raise ImproperlyConfigured("REDIS_URL is not the address of a Redis server; set it to one such as redis://host:6379/0.")
    options: dict[str, object] = {
        "SOCKET_CONNECT_TIMEOUT": 0.5,
        "SOCKET_TIMEOUT": 0.5,
        "REDIS_CLIENT_CLASS": "marketplace.settings.clients.PausingRedis",
    }
    counters: dict[str, object] = {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url, "OPTIONS": options}
    return {"default": counters, "responses": counters | {"OPTIONS": options | {"IGNORE_EXCEPTIONS": True}}}


def email(url: str) -> dict[str, object]:
    """Return Django's mail settings for an address such as `smtp+tls://user:password@host:587`."""
    try:
        given: dict[str, Any] = environ.Env.email_url_config(url)
    except (KeyError, ValueError, ImproperlyConfigured):
        # As in `_parts`.
        raise ImproperlyConfigured(
            f"EMAIL_URL is not understood: {MISREAD}; set it to one such as smtp+tls://user:password@host:587."
        ) from None
    transport = given["EMAIL_BACKEND"]
    if transport.endswith("smtp.EmailBackend") and not given["EMAIL_HOST"]:
        raise ImproperlyConfigured("EMAIL_URL names no mail server; set it to one such as smtp+tls://user:password@host:587.")
    given |= {"MAIL_TRANSPORT": transport, "EMAIL_PORT": given["EMAIL_PORT"] or 587, "EMAIL_TIMEOUT": 10}
    return {name: value for name, value in given.items() if name not in {"EMAIL_BACKEND", "EMAIL_FILE_PATH"}}
