"""Settings for several stateless nodes with PostgreSQL, a Redis-protocol cache, S3 and a TLS proxy."""

from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port, validate_host

from .base import *  # noqa: F403 - settings modules extend each other by star import, Django's own idiom
from .base import ALLOWED_HOSTS, BASE_URL, METRICS_DIR, METRICS_TOKEN, S3, STORAGES, logging_config
from .environment import STATIC_FILES, boolean, database, email, integer, redis_caches, required, signing_key
from .sandbox import SANDBOX

DEBUG = False
SECRET_KEY = required("SECRET_KEY", "a long random text that signs sessions and download links.")
if len(SECRET_KEY) < 50:
    raise ImproperlyConfigured("SECRET_KEY is shorter than 50 characters; set a longer random one.")
CERTIFICATE_KEY = signing_key(required("CERTIFICATE_KEY", "an Ed25519 private key in PEM, which signs licence certificates."))
if not BASE_URL.startswith("https://"):
    raise ImproperlyConfigured(f"BASE_URL is {BASE_URL!r}; set it to the public https:// address of the service.")
# Requests to any other host get a 400.
if not validate_host(split_domain_port(BASE_URL.removeprefix("https://"))[0], ALLOWED_HOSTS):
    raise ImproperlyConfigured("Set ALLOWED_HOSTS to the host names this service answers to, also that of BASE_URL, separated by commas.")

DATABASES = {"default": database(required("DATABASE_URL", "postgres://user:password@host:5432/name."))}
if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL database in production: several processes share it.")

CACHES = redis_caches(required("REDIS_URL", "redis://host:6379/0, where calls are counted and public responses are cached."))
if S3 is None and not SANDBOX:
    raise ImproperlyConfigured("Set S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY: nodes share no local disk.")

STORAGES = STORAGES | {"staticfiles": STATIC_FILES}

if not SANDBOX:
    globals().update(email(required("EMAIL_URL", "smtp+tls://user:password@host:587, which sends verification and decision mails.")))

SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_SSL_REDIRECT = boolean("SECURE_SSL_REDIRECT", default=True)
SECURE_HSTS_SECONDS = integer("SECURE_HSTS_SECONDS", default=31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
if boolean("TRUST_PROXY_HEADERS", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

TEST_PAYMENTS_ALLOWED = SANDBOX
INSPECT_AS_ROOT = boolean("INSPECT_AS_ROOT", default=False)
ACCESS_LOG = boolean("ACCESS_LOG", default=True)
LOGGING = logging_config("json")
if METRICS_TOKEN and not METRICS_DIR:
    raise ImproperlyConfigured(
        "Set METRICS_DIR to a folder for figures, which the processes of one machine add up, or unset METRICS_TOKEN."
    )
