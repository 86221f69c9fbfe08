"""Identifiers: UUIDv7, which sort by creation; the id of the request; how secrets are recognised."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

import uuid_utils.compat

_UUID_SHAPE = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
# A regular expression for how keys, tokens and webhook secrets begin; keys and tokens of a sandbox begin with `cam_test_`.
SECRET_PREFIX = r"(?:cam_(?:test_)?[a-z]{2,3}_|whsec_)"


def new_id() -> uuid.UUID:
    """Return a new UUIDv7."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """Return the lowest id that a row created at this time can have: all rows created since then have greater ones."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


def parse_id(text: str) -> uuid.UUID | None:
    """Return the id in canonical form, None if `text` is not one."""
    if len(text) != 36 or not _UUID_SHAPE.fullmatch(text):
        return None
    return uuid.UUID(text)


def looks_like_id(text: str) -> bool:
    """Tell whether `text` has the form of an id, which slugs must not have."""
    return bool(_UUID_SHAPE.fullmatch(text))


NO_REQUEST = "-"
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)


def current_request_id() -> str:
    """Return the id of the current request, `-` outside of a request."""
    return REQUEST_ID.get()


@contextmanager
def use_request_id(request_id: str) -> Iterator[None]:
    """Use `request_id` in logs and audit entries, for work outside of a request such as a job."""
    token = REQUEST_ID.set(request_id)
    try:
        yield
    finally:
        REQUEST_ID.reset(token)
