"""Identifiers: UUIDv7, so that they sort by creation and stay opaque outside."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

import uuid_utils.compat

_UUID_SHAPE = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


def new_id() -> uuid.UUID:
    """Return a fresh UUIDv7."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """Return the lowest id that could have been made at that moment, to find by id what was made since."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)


def parse_id(text: str) -> uuid.UUID | None:
    """Return the id that `text` spells in canonical form, None when it spells none."""
    if len(text) != 36 or not _UUID_SHAPE.fullmatch(text):
        return None
    return uuid.UUID(text)


def looks_like_id(text: str) -> bool:
    """Tell whether `text` could be mistaken for an id; such slugs are refused."""
    return bool(_UUID_SHAPE.fullmatch(text))


NO_REQUEST = "-"
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)


def current_request_id() -> str:
    """Return the id of the request being answered, `-` outside of one."""
    return REQUEST_ID.get()


@contextmanager
def request_id_of(name: str) -> Iterator[None]:
    """Let what happens outside of a request, such as a job, bear a name of its own in log lines and audit rows."""
    token = REQUEST_ID.set(name)
    try:
        yield
    finally:
        REQUEST_ID.reset(token)
