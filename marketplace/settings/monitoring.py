"""Settings of logs, metrics, traces and crash reports."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from . import environment as read

# Required as `Authorization: Bearer`; if empty, metrics are disabled.
METRICS_TOKEN = read.text("METRICS_TOKEN")
if METRICS_TOKEN and len(METRICS_TOKEN) < 20:
    raise ImproperlyConfigured("METRICS_TOKEN is shorter than 20 characters; set a longer random one.")
# Folder where the server processes of one machine keep their metrics, which a scrape adds up.
METRICS_DIR = read.text("METRICS_DIR")
if METRICS_TOKEN and METRICS_DIR:
    try:
        Path(METRICS_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"METRICS_DIR names {METRICS_DIR}, which cannot be created: {error.strerror}.") from error
# Statements that take at least this long are logged, without parameters; 0: none.
SLOW_QUERY_MS = read.integer("SLOW_QUERY_MS", default=0)
# Components that /readyz requires for a 200; others that are down are only listed.
COMPONENTS = ("database", "migrations", "cache", "objects", "worker")
READY_REQUIRES = read.comma_separated("READY_REQUIRES") or ["database", "migrations"]
if not set(READY_REQUIRES) <= set(COMPONENTS):
    raise ImproperlyConfigured(f"READY_REQUIRES may only contain {', '.join(COMPONENTS)}.")
OTEL_ENDPOINT = read.http_url("OTEL_ENDPOINT")
OTEL_SERVICE_NAME = read.text("OTEL_SERVICE_NAME", "marketplace")
# Percentage of requests that are traced.
OTEL_PERCENT = read.integer("OTEL_PERCENT", default=100, minimum=1, maximum=100)
SENTRY_DSN = read.http_url("SENTRY_DSN")
SENTRY_ENVIRONMENT = read.text("SENTRY_ENVIRONMENT", "production")


def logging_config(default_format: str) -> dict[str, Any]:
    """Return Django's LOGGING, which writes to standard error as `text` or `json`: LOG_FORMAT, by default `default_format`.

    Raises:
        ImproperlyConfigured: LOG_FORMAT or LOG_LEVEL has another value.
    """
    style, level = read.text("LOG_FORMAT", default_format).lower(), read.text("LOG_LEVEL", "INFO").upper()
    if style not in {"text", "json"}:
        raise ImproperlyConfigured(f"LOG_FORMAT is {style!r}; set it to text or json.")
    if level not in {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}:
        raise ImproperlyConfigured(f"LOG_LEVEL is {level!r}; set it to DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    formatter = "JsonFormatter" if style == "json" else "TextFormatter"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "request_id": {"()": "marketplace.monitoring.logs.RequestIdFilter"},
            "redacting": {"()": "marketplace.monitoring.logs.RedactingFilter"},
        },
        "formatters": {"line": {"()": f"marketplace.monitoring.logs.{formatter}"}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "filters": ["request_id", "redacting"], "formatter": "line"},
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Replaces the handlers of Django, one of which mails errors to ADMINS.
            "django": {"handlers": ["console"], "level": "INFO", "propagate": False},
            # Refused requests are in the access log: a client's error needs no warning, and a 400 or 403 no traceback.
            "django.request": {"level": "ERROR"},
            "django.security": {"level": "CRITICAL"},
            # Its debug messages contain codes and tokens.
            "oauthlib": {"level": "INFO"},
        },
    }
