"""Log formatters for text and JSON, and filters that redact secrets and add the request id."""

import logging
import re
from typing import Any

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.orjson import OrjsonFormatter

from marketplace.core.ids import REQUEST_ID, SECRET_PREFIX

# Addresses that are secrets by themselves: signed downloads, links from mails.
_SECRET_PATHS = re.compile(
    r"(/downloads/|/confirm-email/|/reset/key/|/payout-details/undo/|/mails/unsubscribe/|/licences/claim/|/library/skills/)[^\s/?\"'>]+"
)
_SECRETS = re.compile(rf"\b({SECRET_PREFIX})[A-Za-z0-9+/]{{8,}}=*")
# Django passes its request and response objects, whose texts contain whole addresses.
_LEFT_OUT = {"request", "response", "server_time", "status_code", "taskName"}
_FACTS = ("duration_ms", "user", "app", "credential")


def redacted(text: str) -> str:
    """Return the text without the secret part of addresses, and without keys and tokens."""
    return _SECRETS.sub(r"\1…", _SECRET_PATHS.sub(r"\1…", text))


class RedactingFilter(logging.Filter):
    """Redacts secrets in every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the message; always return True."""
        message = record.getMessage()
        clean = redacted(message)
        if clean != message:
            record.msg, record.args = clean, None
        return True


class JsonFormatter(OrjsonFormatter):
    """Formats a record as a JSON object: time, level, logger, message, request id and the record's extra values."""

    def __init__(self) -> None:
        super().__init__(
            "%(levelname)s %(name)s %(message)s %(request_id)s",
            rename_fields={"levelname": "level", "name": "logger", "request_id": "requestId"},
            timestamp="time",
            reserved_attrs=[*RESERVED_ATTRS, *_LEFT_OUT],
        )

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the library's name
        return redacted(str(super().formatException(ei)))


class TextFormatter(logging.Formatter):
    """Formats a record as text; the values of an access line follow the message."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name} [{request_id}] {message}", style="{")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        facts = " ".join(f"{name}={value}" for name in _FACTS if (value := getattr(record, name, None)) is not None)
        line = super().formatMessage(record)
        return f"{line} {facts}" if facts and record.name == "marketplace.access" else line

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the library's name
        return redacted(super().formatException(ei))


class RequestIdFilter(logging.Filter):
    """Adds `request_id` to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Set the request id; always return True."""
        record.request_id = REQUEST_ID.get()
        return True
